import { headerValue, type ReceivedResponse } from '../../../core/selftest/raw-http.js';
import type { Answer } from '../echo-provider.js';
import { type Call, call } from './call.js';
import { describeModule } from './modules.js';
import { useHost } from './use-host.js';

const TTL_MS = 3_600_000;

/** Routes of every kind of cache. */
export const CACHE_ROUTES = [
  cached('/own/{id}', { ttl_ms: TTL_MS }),
  cached('/own', { ttl_ms: TTL_MS }),
  cached('/shared/{id}', { ttl_ms: TTL_MS, shared: true }),
  cached('/short/{id}', { ttl_ms: 1, stale_ms: TTL_MS, shared: true }),
  cached('/gone/{id}', { ttl_ms: 1 }),
  { method: 'GET', path: '/plain/{id}', capability: 'shop.read' },
  ...['POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
    ['/own/{id}', '/shared/{id}'].map((path) => ({ method, path, capability: 'shop.write' })),
  ),
];

function cached(path: string, cache: object) {
  return { method: 'GET', path, capability: 'shop.read', operation: { cache } };
}

/** A host with modules that cache, by what differs in their descriptors. */
export function useCache(args: readonly string[] = []) {
  const setup = useHost(
    ({ url }) => {
      const describe = (name: string, overrides: object = {}) =>
        describeModule(name, url, CACHE_ROUTES, overrides);
      return {
        'shop.json': describe('shop', { forward_headers: ['x-tenant'] }),
        'raw.json': describe('raw', { responses: { mode: 'raw' } }),
        'off.json': describe('off', { cache: 'off' }),
        'known.json': describe('known', { identity: true }),
        'open.json': describe('open', { forward_client: true }),
      };
    },
    { args, isDescribed: false },
  );
  const get = (target: string, overrides: Partial<Call> = {}) =>
    call(setup.host, { target: `/modules/${target.replace('/', '/http/')}`, ...overrides });
  /** The next answers of the provider have these headers beside the media type. */
  const answer = (headers: Readonly<Record<string, string>>, overrides: Partial<Answer> = {}) =>
    setup.provider.answer({
      headers: [['content-type', 'application/json'], ...Object.entries(headers)],
      ...overrides,
    });
  return { setup, get, answer, calls: () => setup.provider.requests.length };
}

export function statusOf(response: ReceivedResponse): string | undefined {
  return headerValue(response.headers, 'cache-status');
}
