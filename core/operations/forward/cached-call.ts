import type { Cancellation } from '../../contract/index.js';
import { LazyAbortController } from '../../lib/lazy-abort-controller.js';
import type { EndpointBase } from '../../provider/endpoint-base.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { CacheEntry } from '../cache/cache-entry.js';
import { type CacheResult, describeStored } from '../cache/cache-status.js';
import { createCachedResponse } from '../cache/cached-response.js';
import { DECIDED_CONDITIONS, isNotModified } from '../cache/not-modified.js';
import type { CachedResponse } from '../cache/response-cache.js';
import {
  type CallerRequest,
  ClientClosed,
  createRequestFacts,
  type RequestFacts,
} from '../request.js';
import { callProvider, type ProviderRequest } from './call-provider.js';
import { findForm } from './responses/find-form.js';
import type { ForwardedResponse } from './responses/response-form.js';
import type { RouteCall } from './route-call.js';

const OK = 200;
const NOT_MODIFIED = 304;
const TOO_MANY_REQUESTS = 429;
const MIN_REDIRECT = 300;
const MIN_SERVER_ERROR = 500;
const NONE: readonly string[] = [];

/** Calls that several requests share end only by their deadline. */
const NEVER: Cancellation = new LazyAbortController();

interface Fetched {
  readonly outcome: CheckedOutcome;
  readonly base: EndpointBase | null;
  readonly response: ForwardedResponse;
  /** `null` for a response that may not be cached. */
  readonly kept: CachedResponse | null;
}

/**
 * Reports the result of the cache in the reply, the metrics and the record. @param age the age of a
 * cached response in seconds
 */
export function recordCacheResult(
  { request, facts }: RouteCall,
  result: CacheResult,
  status: string,
  age: number | null = null,
): void {
  facts.cache = result;
  const { replyHeaders } = request;
  const ownIndex = replyHeaders.indexOf('cache-status');
  request.replyHeaders = [
    ...(ownIndex === -1 ? replyHeaders : replyHeaders.slice(0, ownIndex)),
    'cache-status',
    status,
    ...(age === null ? NONE : ['age', String(age)]),
  ];
}

/**
 * Makes the only call for a key and caches the response. The call continues when its request ends,
 * since others may wait for it.
 * @throws like `callProvider`.
 */
export async function fillCache(
  call: RouteCall,
  entry: CacheEntry,
  providerRequest: ProviderRequest<ForwardedResponse>,
): Promise<ForwardedResponse> {
  const { request, facts } = call;
  const fillFacts = { ...createRequestFacts(), span: facts.span };
  const filling = startFill(call, entry, providerRequest, fillFacts);
  let fetched: Fetched;
  try {
    fetched = await rejectWhenClosed(filling, request.signal);
  } catch (error) {
    discard(filling);
    throw error;
  } finally {
    copyFacts(fillFacts, facts);
  }
  const { outcome, base, response, kept } = fetched;
  if (kept !== null) recordCacheResult(call, 'miss', describeStored(kept));
  const decided = decideConditions(call, outcome);
  if (decided === outcome) return response;
  return findForm(call).read(call, decided, { base }, providerRequest.operation);
}

/** Fetches a new response while a stale one is served. */
export function renewCache(
  call: RouteCall,
  entry: CacheEntry,
  providerRequest: ProviderRequest<ForwardedResponse>,
): void {
  if (entry.cache.findFill(entry.key) !== null) return;
  // Its failure does not affect this request; breakers and counts of the module include it.
  discard(startFill(call, entry, providerRequest, createRequestFacts()));
}

/** Drops a response that is too long to be cached. */
function discard(filling: Promise<Fetched>): void {
  filling.then(({ outcome: { stream } }) => stream?.close()).catch(() => {});
}

async function startFill(
  call: RouteCall,
  { cache, key, place, rules }: CacheEntry,
  providerRequest: ProviderRequest<ForwardedResponse>,
  facts: RequestFacts,
): Promise<Fetched> {
  const { actor, client, headers, isHttp10, held: ofRequest } = call.request;
  const held = ofRequest?.fork();
  const detached = { signal: NEVER, facts, ...(held !== undefined && { held }) };
  const mask = (text: string) => call.request.mask(text);
  const request = { actor, client, headers, isHttp10, method: 'GET', signal: NEVER, facts, mask };
  const { matched, credentialHeaders, webSocketCall } = call;
  const reading = { matched, credentialHeaders, webSocketCall, request };
  const form = findForm(reading);
  let status: number | null = null;
  let stream: CheckedOutcome['stream'] = null;
  const fill = cache.begin(key, place);
  try {
    const fetched = await callProvider({
      ...providerRequest,
      detached,
      withheld: listWithheld(call),
      parseResponse: async (outcome, source, operation) => {
        ({ status } = outcome);
        const response = await form.read(reading, outcome, source, operation);
        return { outcome, base: source.base, response };
      },
    });
    const cached = createCachedResponse(fetched.outcome, fetched.base, {
      place,
      rules,
      now: performance.now(),
    });
    ({ stream } = fetched.outcome);
    const isKept = cache.end(fill, cached, isDecided(fetched.outcome.status));
    return { ...fetched, kept: isKept ? cached : null };
  } catch (error) {
    cache.end(fill, null, status !== null && status >= MIN_REDIRECT && isDecided(status));
    throw error;
  } finally {
    if (stream?.isOpen === true) stream.onEnd(() => held?.close());
    else held?.close();
  }
}

/** Whether the provider has decided, so that its earlier response is outdated. */
function isDecided(status: number): boolean {
  return status < MIN_SERVER_ERROR && status !== TOO_MANY_REQUESTS;
}

/**
 * The conditions of a client are decided here, because the provider's result would fit no other
 * request.
 */
export function listWithheld({ matched }: RouteCall): readonly string[] {
  return matched.module.descriptor.responses.mode === 'raw' ? DECIDED_CONDITIONS : NONE;
}

/** Returns a 304 for a client that already has the response. */
export function decideConditions(call: RouteCall, outcome: CheckedOutcome): CheckedOutcome {
  const { request, hopByHop } = call;
  const isWhole = outcome.status === OK && outcome.stream === null;
  if (!isWhole || listWithheld(call).length === 0) return outcome;
  const conditions = {
    get: (name: string) => (hopByHop.has(name) ? undefined : request.headers.get(name)),
  };
  if (!isNotModified(conditions, outcome.headers)) return outcome;
  return { ...outcome, status: NOT_MODIFIED, pieces: [], length: 0 };
}

/** @throws ClientClosed when the client has disconnected. */
export async function rejectWhenClosed<T>(
  work: Promise<T>,
  signal: CallerRequest['signal'],
): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {});
    throw new ClientClosed();
  }
  let listener = { handleEvent: () => {} };
  const closed = new Promise<never>((_, reject) => {
    listener = { handleEvent: () => reject(new ClientClosed()) };
  });
  signal.addEventListener('abort', listener);
  try {
    return await Promise.race([work, closed]);
  } finally {
    signal.removeEventListener('abort', listener);
  }
}

/** Copies the facts of the call to the request that made it. */
function copyFacts(from: RequestFacts, to: RequestFacts): void {
  to.attempts = from.attempts;
  to.endpoint = from.endpoint;
  to.provider_ms = from.provider_ms;
  to.trace_id = from.trace_id;
  to.bodies = from.bodies;
  to.schemaViolations = from.schemaViolations ?? to.schemaViolations;
}
