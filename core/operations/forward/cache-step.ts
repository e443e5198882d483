import { isProviderFailure } from '../../contract/index.js';
import type { CacheRules } from '../../manifest/cache-rules.js';
import type { CacheEntry } from '../cache/cache-entry.js';
import { type CacheKeyParts, createCacheKey } from '../cache/cache-key.js';
import {
  type CacheResult,
  describeCached,
  describeForward,
  readAge,
} from '../cache/cache-status.js';
import type { CachedResponse, CacheFill, ResponseCache } from '../cache/response-cache.js';
import { pass, unknown } from '../explain/step-report.js';
import {
  decideConditions,
  listWithheld,
  recordCacheResult,
  rejectWhenClosed,
  renewCache,
} from './cached-call.js';
import {
  createBodies,
  createCallHeaders,
  type ProviderRequest,
  readHashKey,
} from './call-provider.js';
import type { CallStep } from './call-steps.js';
import { createCallFailure } from './provider-error.js';
import { findForm } from './responses/find-form.js';
import type { ForwardedResponse } from './responses/response-form.js';
import type { RouteCall } from './route-call.js';
import { createRouteRequest } from './route-request.js';

/** Serves a cached response: after every check of the caller, and before the provider. */
export const cacheStep: CallStep = {
  name: 'cache',
  appliesTo: ({ cache }) => cache !== null,
  run(call) {
    const { cache } = call.matched.match.value;
    if (cache !== null) return lookUp(call, cache);
  },
  explain({ route }) {
    const { cache = null } = route?.value ?? {};
    if (cache === null) return undefined;
    if (cache.isOff) return pass('the route has a cache, which is off: nothing is kept');
    const { ttlMs, staleMs, isShared } = cache;
    const forWhom = isShared ? 'all callers share it' : 'each caller has its own';
    const stale = staleMs === 0 ? '' : `, and ${staleMs} ms longer while a new one is fetched`;
    return unknown(`a response is kept for at most ${ttlMs} ms${stale}; ${forWhom}`);
  },
};

function lookUp(call: RouteCall, rules: CacheRules): void | Promise<void> {
  const { responses } = call;
  const credentials = rules.isByToken ? readCredentials(call) : null;
  // A caller of a surface has a token that the request does not contain.
  const isForbidden = call.needsApproval || (rules.isByToken && credentials === null);
  // An approval is for one call of the provider.
  if (responses === null || rules.isOff || isForbidden) {
    recordCacheResult(call, 'bypass', describeForward('bypass'));
    return;
  }
  const providerRequest = { ...createRouteRequest(call), withheld: listWithheld(call) };
  const entry = createEntry(call, providerRequest, responses, { ...rules, credentials });
  // The response to a HEAD has no body.
  const isHead =
    providerRequest.operation.kind === 'http_route' && providerRequest.operation.method === 'HEAD';
  const now = performance.now();
  const cached = responses.find(entry.key, now);
  if (cached !== null) {
    const isFresh = now < cached.freshUntil;
    if (!isFresh && !isHead) renewCache(call, entry, providerRequest);
    return serveCached(call, cached, isFresh ? 'hit' : 'stale');
  }
  if (isHead) {
    recordCacheResult(call, 'miss', describeForward('method'));
    return;
  }
  const fill = responses.findFill(entry.key);
  if (fill !== null) return join(call, fill);
  call.cacheEntry = entry;
  recordCacheResult(call, 'miss', describeForward('miss'));
}

function createEntry(
  { matched, request }: RouteCall,
  providerRequest: ProviderRequest<ForwardedResponse>,
  cache: ResponseCache,
  { credentials, ...rules }: CacheRules & Pick<CacheKeyParts, 'credentials'>,
): CacheEntry {
  const { module, match, target } = matched;
  const key = createCacheKey({
    module,
    route: match.value,
    target: target.forwardTarget,
    headers: createCallHeaders(providerRequest),
    hashKey: readHashKey(module, request),
    actor: rules.isShared ? null : request.actor,
    credentials,
  });
  return { cache, key, rules, place: { module: module.name, path: target.providerPath } };
}

/** Returns `null` for a request without credentials. */
function readCredentials({ request, credentialHeaders }: RouteCall): string | null {
  const values = credentialHeaders.map((name) => request.headers.get(name) ?? null);
  return values.every((value) => value === null) ? null : JSON.stringify(values);
}

/**
 * Waits for the call of another request. If its response may not be cached, this request makes its
 * own call.
 */
async function join(call: RouteCall, fill: CacheFill): Promise<void> {
  const startedAt = performance.now();
  const cached = await rejectWhenClosed(fill.kept, call.request.signal);
  if (cached !== null) return serveCached(call, cached, 'collapsed');
  call.waitedMs = performance.now() - startedAt;
  recordCacheResult(call, 'miss', describeForward('miss'));
}

async function serveCached(
  call: RouteCall,
  cached: CachedResponse,
  result: CacheResult,
): Promise<void> {
  const { request, matched, facts } = call;
  const { module } = matched;
  const now = performance.now();
  recordCacheResult(call, result, describeCached(result, cached, now), readAge(cached, now));
  const { operation } = createRouteRequest(call);
  try {
    const rejection = request.held?.reserve(cached.outcome.length) ?? null;
    if (rejection !== null) throw rejection;
    facts.bodies = createBodies(module, operation, request);
    if (facts.bodies !== null) facts.bodies.response = [...cached.outcome.pieces];
    const outcome = decideConditions(call, cached.outcome);
    const asGet =
      operation.kind === 'http_route' ? { ...operation, method: 'GET' as const } : operation;
    const response = await findForm(call).read(call, outcome, { base: cached.base }, asGet);
    call.reply = response.form.reply(call, response, null);
  } catch (error) {
    if (!isProviderFailure(error)) throw error;
    throw createCallFailure(call, error);
  }
}
