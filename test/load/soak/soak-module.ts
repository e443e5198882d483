/** The modules that the soak mounts, and what each is for. */
export const MODULES = {
  /** http; its descriptor changes all the time, also for the worse. */
  calm: 'calm',
  /** unix. */
  socket: 'socket',
  /** local, in a thread; its descriptor changes too. */
  local: 'local',
  /** http behind a fault proxy. */
  shaky: 'shaky',
  /** http; its process is killed and started again, and fails by itself. */
  mortal: 'mortal',
  /** http; its descriptor comes and goes. */
  transient: 'transient',
} as const;

export type ModuleName = (typeof MODULES)[keyof typeof MODULES];

/** No fault is ever put on these: they answer 200. */
export const UNHARMED: readonly ModuleName[] = [MODULES.calm, MODULES.socket, MODULES.local];

export const SLOW_PATH = '/slow';
export const ADMIN_LIST_PATH = '/admin/items';
export const DELIVERY_PATH = '/_config';
/** What is aborted has arrived, and would take this long. */
export const SLOW_MS = 1500;
export const CAPABILITY = 'items.use';
export const CONFIG_CAPABILITY = 'items.config';
export const UNGRANTED = 'items.ungranted';
export const DIGEST = `sha256:${'5'.repeat(64)}`;
/** Long enough for a busy machine: an unharmed module that needs more has failed. */
const TIMEOUT_MS = 20_000;
/** Of the modules that are harmed, so that a black hole ends soon. */
export const HARMED_TIMEOUT_MS = 2000;
/** Short, so that a fault that is over is over for callers as well. */
const BREAKER = { failures: 5, open_ms: 200, max_open_ms: 500 };

/** The module of kind local, which keeps the journal of a provider too. */
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
    fields: [
      { service: 'soak', key: 'size', type: { kind: 'int', min: 0 }, default: 1, editable: true },
    ],
    delivery_path: DELIVERY_PATH,
  },
};

export type ProviderEntry = Readonly<{ kind: string; config: object }>;

/** A descriptor of the module; another `version` is another descriptor. */
export function describeModule(name: ModuleName, provider: ProviderEntry, version = 0): object {
  const isUnharmed = UNHARMED.includes(name);
  return {
    module: name,
    provider,
    manifest: { inline: name === MODULES.calm ? administered : manifest },
    limits: {
      timeout_ms: (isUnharmed ? TIMEOUT_MS : HARMED_TIMEOUT_MS) - (version % 100),
    },
    breaker: BREAKER,
    console: { release: DIGEST, ui: [DIGEST], grants: [CAPABILITY, CONFIG_CAPABILITY] },
  };
}
