import { ProviderFailure } from '../../contract/index.js';
import { isPlainEnvelope, type Responses } from '../../descriptor/sections/responses.js';
import { parseCacheDirectives } from '../../lib/cache-directives.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { EndpointBase } from '../../provider/endpoint-base.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { ReadCall } from './responses/response-form.js';
import { createReferences, rewriteLinks, rewriteReference } from './rewrite-references.js';

/** The headers of a response that the provider determines. */
export interface ExposedHeaders {
  readonly cacheControl: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** The exposed names of the descriptor, present or not. */
  readonly exposed: readonly string[];
}

type ExposeHeaders = (
  call: ReadCall,
  outcome: CheckedOutcome,
  base: EndpointBase | null,
) => ExposedHeaders;

const NOT_MODIFIED = 304;
const UNAUTHORIZED = 401;
const RANGE_NOT_SATISFIABLE = 416;
const NO_STORE = 'no-store';
/** Values that Node can send: Latin-1 without control characters. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that are computed for each response. */
const COMPUTED = new Set(['cache-control', 'vary', 'x-content-type-options']);

/** Of a descriptor that exposes none. */
export const NOTHING_EXPOSED: ExposedHeaders = { cacheControl: NO_STORE, headers: [], exposed: [] };

/** Created once for each module, which is immutable. */
const exposers = new WeakMap<LiveModule, ExposeHeaders>();

/**
 * @param base the base of the endpoint that responded
 * @throws ProviderFailure `protocol` for a value that HTTP cannot transfer.
 */
export const exposeHeaders: ExposeHeaders = (call, outcome, base) => {
  const { module } = call.matched;
  const { responses } = module.descriptor;
  if (isPlainEnvelope(responses)) return NOTHING_EXPOSED;
  let expose = exposers.get(module);
  if (expose === undefined) {
    expose = createExposeHeaders(responses, call.credentialHeaders);
    exposers.set(module, expose);
  }
  return expose(call, outcome, base);
};

/** Computes everything that does not depend on the response. */
function createExposeHeaders(
  { mode, expose_headers: exposed }: Responses,
  credentialHeaders: readonly string[],
): ExposeHeaders {
  const isRaw = mode === 'raw';
  const passed = exposed.filter((name) => !COMPUTED.has(name));
  const exposesVary = exposed.includes('vary');
  const exposesCacheControl = exposed.includes('cache-control');
  const ownVary = credentialHeaders.join(', ');

  return (call, outcome, base) => {
    const headers: string[] = [];
    for (const name of passed) {
      // Some clients follow `location` of a 304, and send their credentials along.
      if (name === 'location' && outcome.status === NOT_MODIFIED) continue;
      const received = readValue(outcome, name);
      const value = received === null ? null : translate(name, received, call, base);
      if (value !== null) headers.push(name, value);
    }
    if (isRaw || exposesVary) {
      const vary = exposesVary ? readValue(outcome, 'vary') : null;
      headers.push('vary', vary === null ? ownVary : addToVary(vary, credentialHeaders));
    }
    if (isRaw && outcome.status === UNAUTHORIZED && !headers.includes('www-authenticate')) {
      headers.push('www-authenticate', 'Provider');
    }
    if (isRaw && outcome.status === RANGE_NOT_SATISFIABLE && !headers.includes('content-range')) {
      const range = readValue(outcome, 'content-range');
      if (range !== null) headers.push('content-range', range);
    }
    if (isRaw) headers.push('modgate-origin', 'provider');
    const received = readValue(outcome, 'cache-control');
    // Responses for callers without credentials may be shared.
    const isShared = received !== null && call.request.actor.kind === 'anonymous';
    const cacheControl =
      isShared && exposesCacheControl
        ? received
        : chooseCacheControl(received, exposesCacheControl, isRaw);
    return { cacheControl, headers, exposed };
  };
}

/** Returns `null` for an absent header, and for one that `connection` declares hop-by-hop. */
function readValue({ status, headers }: CheckedOutcome, name: string): string | null {
  const value: unknown = headers[name];
  // A name such as `constructor` is inherited, and not a string.
  if (typeof value !== 'string' || isHopByHop(headers['connection'], name)) return null;
  return assertSendable({ status }, value);
}

/** @throws ProviderFailure `protocol` for a value that HTTP cannot transfer. */
export function assertSendable({ status }: Pick<CheckedOutcome, 'status'>, value: string): string {
  if (SENDABLE.test(value)) return value;
  const message = 'the response has a header that HTTP cannot carry';
  throw new ProviderFailure('protocol', message, { status, phase: 'answered' });
}

function isHopByHop(connection: string | undefined, name: string): boolean {
  if (typeof connection !== 'string' || connection === 'keep-alive') return false;
  return connection.split(',').some((option) => option.trim().toLowerCase() === name);
}

/**
 * Without the header of the provider only raw responses may be cached, and only by their caller.
 */
function chooseCacheControl(received: string | null, isExposed: boolean, isRaw: boolean): string {
  if (received === null) return isRaw ? 'private' : NO_STORE;
  return isExposed ? makePrivate(received) : NO_STORE;
}

function translate(
  name: string,
  value: string,
  call: ReadCall,
  base: EndpointBase | null,
): string | null {
  if (name === 'link') return rewriteLinks(value, createReferences(call, base));
  if (name !== 'location' && name !== 'content-location') return value;
  return rewriteReference(value, createReferences(call, base));
}

/** Directives that decide whether a cache may serve the response to other callers. */
const SHARING = new Set(['public', 's-maxage', 'private']);

/**
 * Returns the `cache-control` of a response that was authorized for one caller: `private`, and the
 * provider's other directives.
 */
function makePrivate(cacheControl: string): string {
  const directives = parseCacheDirectives(cacheControl);
  if (directives === null) return 'private, no-store';
  const others = directives.filter(({ name }) => !SHARING.has(name));
  return ['private', ...others.map(({ text }) => text)].join(', ');
}

/** Adds the names of all credential headers to the provider's `vary`. */
function addToVary(vary: string, credentialHeaders: readonly string[]): string {
  const names = vary
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.includes('*')) return '*';
  const present = new Set(names.map((name) => name.toLowerCase()));
  return [...names, ...credentialHeaders.filter((name) => !present.has(name))].join(', ');
}
