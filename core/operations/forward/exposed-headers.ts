import { ProviderFailure } from '../../contract/index.js';
import type { Responses } from '../../descriptor/sections/responses.js';
import type { EndpointBase } from '../../provider/endpoint-base.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { type ReferenceContext, rewriteLinks, rewriteReference } from './rewrite-references.js';

/** The headers of a response that the provider determines. */
export interface ExposedHeaders {
  readonly cacheControl: string;
  /** The caching that the provider allows, for anonymous callers. */
  readonly publicCacheControl: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** The exposed names of the descriptor, present or not. */
  readonly exposed: readonly string[];
}

interface ExposeOptions {
  readonly responses: Responses;
  readonly references: Omit<ReferenceContext, 'base'>;
  /** The request headers for credentials; lower-case names. */
  readonly credentialHeaders: readonly string[];
}

/**
 * @param base the base of the endpoint that responded
 * @throws ProviderFailure `protocol` for a value that HTTP cannot transfer.
 */
export type ExposeHeaders = (outcome: CheckedOutcome, base: EndpointBase | null) => ExposedHeaders;

const NOT_MODIFIED = 304;
const UNAUTHORIZED = 401;
const RANGE_NOT_SATISFIABLE = 416;
const NO_STORE = 'no-store';
/** Values that Node can send: Latin-1 without control characters. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that are computed for each response. */
const COMPUTED = new Set(['cache-control', 'vary', 'x-content-type-options']);

/** Computes everything that does not depend on the response once per module. */
export function createExposeHeaders(options: ExposeOptions): ExposeHeaders {
  const { responses, references, credentialHeaders } = options;
  const { mode, expose_headers: exposed } = responses;
  const isRaw = mode === 'raw';
  const passed = exposed.filter((name) => !COMPUTED.has(name));
  const exposesVary = exposed.includes('vary');
  const exposesCacheControl = exposed.includes('cache-control');
  const ownVary = credentialHeaders.join(', ');

  return (outcome, base) => {
    const headers: string[] = [];
    for (const name of passed) {
      // Some clients follow `location` of a 304, and send their credentials along.
      if (name === 'location' && outcome.status === NOT_MODIFIED) continue;
      const received = readValue(outcome, name);
      const value = received === null ? null : translate(name, received, base, references);
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
    const cacheControl = chooseCacheControl(received, exposesCacheControl, isRaw);
    return {
      cacheControl,
      publicCacheControl: exposesCacheControl ? (received ?? cacheControl) : cacheControl,
      headers,
      exposed,
    };
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
  base: EndpointBase | null,
  references: Omit<ReferenceContext, 'base'>,
): string | null {
  if (name === 'link') return rewriteLinks(value, { ...references, base });
  if (name !== 'location' && name !== 'content-location') return value;
  return rewriteReference(value, { ...references, base });
}

/** A directive without a comma in its value (RFC 9111, 5.2). */
const DIRECTIVE = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:=(?:[!#$%&'*+.^_`|~0-9a-z-]+|"[^",]*"))?$/i;
/** Directives that decide whether a cache may serve the response to other callers. */
const SHARING = new Set(['public', 's-maxage', 'private']);

/**
 * Returns the `cache-control` of a response that was authorized for one caller: `private`, and the
 * provider's other directives. Ambiguous values, such as one with a comma in quotes, are not
 * cached.
 */
function makePrivate(cacheControl: string): string {
  const directives = ['private'];
  for (const part of cacheControl.split(',')) {
    const directive = part.trim();
    const name = DIRECTIVE.exec(directive)?.[1]?.toLowerCase();
    if (directive === '' || (name !== undefined && SHARING.has(name))) continue;
    if (name === undefined) return 'private, no-store';
    directives.push(directive);
  }
  return directives.join(', ');
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
