import type { RawHeader, ReceivedResponse } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../http/call.js';

const capability = 'items.use';

/** Routes with every combination of method and idempotency that the tests need. */
const ROUTES = [
  { method: 'GET', path: '/items', capability },
  { method: 'POST', path: '/items', capability },
  { method: 'PUT', path: '/items', capability, operation: { idempotency: 'idempotent' } },
  { method: 'PATCH', path: '/items', capability, operation: { idempotency: 'requires_key' } },
  { method: 'DELETE', path: '/items', capability, operation: { idempotency: 'none' } },
];

/** A descriptor with `ROUTES` and an http provider with this config. */
export function describeItems(module: string, config: object, overrides: object = {}): object {
  return {
    module,
    provider: { kind: 'http', config },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: module,
        capabilities: [capability],
        http_routes: ROUTES,
      },
    },
    ...overrides,
  };
}

const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);

export interface ItemsCall {
  readonly method?: string;
  readonly headers?: readonly RawHeader[];
  readonly deadlineMs?: number;
}

/** Calls `/items` of a module. */
export function callItems(
  host: { readonly port: number },
  module: string,
  { method = 'GET', headers = [], ...rest }: ItemsCall = {},
): Promise<ReceivedResponse> {
  const target = `/modules/${module}/http/items`;
  if (!HAS_BODY.has(method)) return call(host, { ...rest, method, target, headers });
  const body = Buffer.from('{}');
  return call(host, { ...rest, method, target, headers: [JSON_TYPE, ...headers], body });
}

interface ModuleEntry {
  readonly name: string;
  readonly counts: Readonly<Record<'calls' | 'failed' | 'in_flight' | 'queued', number>>;
  readonly endpoints: readonly {
    readonly endpoint: string;
    readonly state: string;
    readonly in_flight: number;
    readonly calls: number;
    readonly failures: number;
    readonly until: string | null;
    readonly routes: readonly {
      readonly route: string;
      readonly state: string;
      readonly until: string | null;
    }[];
  }[];
}

/** The entry of a module in `GET /modules`. */
export async function readModule(
  host: { readonly port: number },
  name: string,
): Promise<ModuleEntry> {
  const list = parseJson(await call(host, { target: '/modules' }));
  const entry = (list['modules'] as ModuleEntry[]).find((entry) => entry.name === name);
  if (entry === undefined) throw new Error(`GET /modules says nothing of ${name}`);
  return entry;
}

/** The log line of a request by its id; `undefined` before it is written. */
export function findLine(
  host: { logs(): Record<string, unknown>[] },
  requestId: string,
): Record<string, unknown> | undefined {
  return host.logs().find((line) => line['msg'] === 'request' && line['request_id'] === requestId);
}
