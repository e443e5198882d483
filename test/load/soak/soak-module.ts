/** The modules of the soak and their purposes. */
export const MODULES = {
  /** http; its descriptor keeps changing and is sometimes invalid. */
  calm: 'calm',
  /** unix. */
  socket: 'socket',
  /** local, in a thread; its descriptor keeps changing. */
  local: 'local',
  /** http behind a fault proxy. */
  shaky: 'shaky',
  /** http; its process is killed and restarted, or returns 500. */
  mortal: 'mortal',
  /** http; its descriptor is removed and written again. */
  transient: 'transient',
} as const;

export type ModuleName = (typeof MODULES)[keyof typeof MODULES];

/** Modules without faults, which always return 200. */
export const RELIABLE: readonly ModuleName[] = [MODULES.calm, MODULES.socket, MODULES.local];

export const SLOW_PATH = '/slow';
export const ADMIN_LIST_PATH = '/admin/items';
export const DELIVERY_PATH = '/_config';
/** The duration of a slow response, long enough for the client to disconnect. */
export const SLOW_MS = 1500;
export const CAPABILITY = 'items.use';
export const CONFIG_CAPABILITY = 'items.config';
export const UNGRANTED = 'items.ungranted';
export const DIGEST = `sha256:${'5'.repeat(64)}`;
/** Long enough for a busy machine. */
const TIMEOUT_MS = 20_000;
/** Limits for modules with faults, so that lost data is detected soon. */
export const UNRELIABLE_TIMEOUT_MS = 2000;
/** Short, so that calls succeed soon after a fault. */
const BREAKER = { failures: 5, open_ms: 200, max_open_ms: 500 };

/** The code of the local module, which writes a journal like the other providers. */
export function writeLocalModule(journal: string): string {
  return `
import { appendFileSync } from 'node:fs';
export default async (operation, context) => {
  const arrival = { call_id: context.callId, request_id: context.requestId };
  appendFileSync(${JSON.stringify(journal)}, JSON.stringify(arrival) + '\\n');
  return { status: 200, body: { echo: context.requestId } };
};
`;
}

const manifest = {
  protocol: 'modgate.manifest.v1',
  module_id: 'soak',
  capabilities: [CAPABILITY, CONFIG_CAPABILITY, UNGRANTED],
  http_routes: [
    { method: 'GET', path: '/items/{id}', capability: CAPABILITY },
    { method: 'POST', path: '/items', capability: CAPABILITY },
    { method: 'DELETE', path: '/items/{id}', capability: CAPABILITY },
    { method: 'GET', path: SLOW_PATH, capability: CAPABILITY },
  ],
};
const administered = {
  ...manifest,
  admin: {
    entities: [{ name: 'items', read_capability: CAPABILITY, list_path: ADMIN_LIST_PATH }],
  },
  config: {
    write_capability: CONFIG_CAPABILITY,
    fields: [
      { service: 'soak', key: 'size', type: { kind: 'int', min: 0 }, default: 1, editable: true },
    ],
    delivery_path: DELIVERY_PATH,
  },
};

export type ProviderEntry = Readonly<{ kind: string; config: object }>;

/** The descriptor of a module. Each `version` gives a different one. */
export function describeModule(name: ModuleName, provider: ProviderEntry, version = 0): object {
  const isReliable = RELIABLE.includes(name);
  return {
    module: name,
    provider,
    manifest: { inline: name === MODULES.calm ? administered : manifest },
    limits: {
      timeout_ms: (isReliable ? TIMEOUT_MS : UNRELIABLE_TIMEOUT_MS) - (version % 100),
    },
    breaker: BREAKER,
    console: { release: DIGEST, ui: [DIGEST], grants: [CAPABILITY, CONFIG_CAPABILITY] },
  };
}
