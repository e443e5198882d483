import { MODULE_REDIRECTS } from '../../descriptor/sections/responses.js';
import type { EndpointBase } from '../../provider/endpoint-base.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { calledBase } from '../request.js';
import { type CalledAddress, findCalledAddress } from './called-address.js';
import { REDIRECTS } from './provider-response.js';
import type { ReadCall } from './responses/response-form.js';

/** The status of an incomplete resumable upload. */
const PERMANENT_REDIRECT = 308;

/** The place of a module at its provider and at the host. */
export interface ReferenceContext {
  /** The base of the endpoint that responded; `null` for an endpoint without a URL. */
  readonly base: EndpointBase | null;
  /** The bases of all endpoints of the module, and of its other origins. */
  readonly bases: readonly EndpointBase[];
  /**
   * The base of the call at the host: `/modules/acme%2Fcrm/http`, that of a mount, or empty for
   * `/`.
   */
  readonly prefix: string;
  /**
   * The address that the provider received as its own; absent or `null` without `forward_client`.
   */
  readonly called?: CalledAddress | null;
}

/** @param base the base of the endpoint that responded */
export function createReferences(
  { matched: { module, target }, request }: ReadCall,
  base: EndpointBase | null,
): ReferenceContext {
  const { forward_client, responses } = module.descriptor;
  const origins = responses.origins.map((origin) => ({ origin, path: '' }));
  return {
    base,
    bases: [...module.client.bases, ...origins],
    prefix: calledBase(target),
    called: forward_client ? findCalledAddress(request, target) : null,
  };
}

/** Without the backslash, which URL parsers treat as a slash, and controls, which they remove. */
const SAFE = /^[ -[\]-~\x80-\xff]*$/;
/** Of a header that the provider sent twice. */
const JOINED = ', ';
const UNENCODED = /[ \x80-\xff]/g;
const HTTP_URL = /^https?:\/\//i;
/** The base of endpoints without a URL: no reference has its origin. */
const NO_BASE: EndpointBase = { origin: 'http://module.invalid', path: '' };

/**
 * Rewrites a reference of a provider so that a caller can follow it.
 * @returns the path at the host for a reference below the base path of an endpoint; the reference
 * itself if it leads elsewhere; `null` for one that must be dropped, because it is outside the base
 * path or invalid
 */
export function rewriteReference(received: string, context: ReferenceContext): string | null {
  const reference = encodeReference(received);
  if (reference === null) return null;
  const base = context.base ?? NO_BASE;
  const absolute = resolve(reference, base);
  if (absolute === null) return reference;
  if (!URL.canParse(absolute)) return null;
  const { origin, pathname, search, hash } = new URL(absolute);
  const { called = null } = context;
  const isCalledOrigin = called !== null && origin === called.origin;
  if (called !== null && removePrefix(pathname, called.prefix) !== null) {
    if (isCalledOrigin) return reference;
    // Without a prefix, a path does not identify its address.
    const isPrefixed = called.prefix !== '' && origin === base.origin;
    if (isPrefixed) return reference.startsWith('/') ? reference : pathname + search + hash;
  }
  const matching =
    isCalledOrigin || origin === base.origin
      ? [base]
      : context.bases.filter((other) => other.origin === origin);
  if (matching.length === 0) return reference;
  for (const { path: basePath } of matching) {
    const local = removePrefix(pathname, basePath);
    if (local === null) continue;
    const path = context.prefix + local;
    // Two slashes would begin the name of another host.
    return path.startsWith('//') ? null : path + search + hash;
  }
  return null;
}

/**
 * Encodes spaces and bytes beyond ASCII, as browsers do. Returns `null` for other characters that
 * URL parsers would change.
 */
function encodeReference(reference: string): string | null {
  if (!SAFE.test(reference) || reference.includes(JOINED)) return null;
  return reference.replace(
    UNENCODED,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Returns `null` for a reference that is relative to the request, and for schemes other than http.
 */
function resolve(reference: string, { origin }: EndpointBase): string | null {
  if (reference.startsWith('//')) return origin.slice(0, origin.indexOf('//')) + reference;
  if (reference.startsWith('/')) return origin + reference;
  return HTTP_URL.test(reference) ? reference : null;
}

function removePrefix(path: string, prefix: string): string | null {
  if (path === prefix) return '/';
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : null;
}

/**
 * Rewrites the targets of a `link` header (RFC 8288) and drops links without one.
 * @returns `null` if none remains, and for a malformed header
 */
export function rewriteLinks(header: string, context: ReferenceContext): string | null {
  const links: string[] = [];
  let offset = skipSeparators(header, 0);
  while (offset < header.length) {
    const targetEnd = header[offset] === '<' ? header.indexOf('>', offset) : -1;
    const end = targetEnd === -1 ? -1 : findLinkEnd(header, targetEnd + 1);
    if (end === -1) return null;
    const target = rewriteReference(header.slice(offset + 1, targetEnd), context);
    if (target !== null) links.push(`<${target}>${header.slice(targetEnd + 1, end).trimEnd()}`);
    offset = skipSeparators(header, end);
  }
  return links.length === 0 ? null : links.join(', ');
}

function skipSeparators(header: string, from: number): number {
  let offset = from;
  while (header[offset] === ',' || header[offset] === ' ' || header[offset] === '\t') offset += 1;
  return offset;
}

/** The next comma outside quotes, or the end; -1 for an open quote. */
function findLinkEnd(header: string, from: number): number {
  let isQuoted = false;
  for (let index = from; index < header.length; index += 1) {
    const character = header[index];
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted && character === '\\') index += 1;
    else if (!isQuoted && character === ',') return index;
  }
  return isQuoted ? -1 : header.length;
}

interface PassedRedirect {
  /** `null` for a 308 without one. */
  readonly location: string | null;
}

/**
 * Selects the redirects that the caller receives, by `responses.redirects`. The host follows none.
 * @param base the base of the endpoint that responded
 * @returns `null` for any other redirect
 */
export function passRedirect(
  { status, headers }: CheckedOutcome,
  call: ReadCall,
  base: EndpointBase | null,
): PassedRedirect | null {
  const { module, target } = call.matched;
  const { redirects: allowed } = module.descriptor.responses;
  if (!REDIRECTS.has(status) || allowed.length === 0) return null;
  if (headers['location'] === undefined) {
    const isPassed = status === PERMANENT_REDIRECT && allowed.includes(MODULE_REDIRECTS);
    return isPassed ? { location: null } : null;
  }
  // It may be relative to the target of the request at the provider.
  const { origin, path } = base ?? NO_BASE;
  const requested = origin + path + target.forwardTarget;
  const location = encodeReference(headers['location']);
  if (location === null || location === '' || !URL.canParse(location, requested)) return null;
  const { href: absolute, origin: other } = new URL(location, requested);
  const context = createReferences(call, base);
  const rewritten = rewriteReference(absolute, context);
  const leadsElsewhere = rewritten === absolute && other !== context.called?.origin;
  const isPassed =
    rewritten !== null && allowed.includes(leadsElsewhere ? other : MODULE_REDIRECTS);
  return isPassed ? { location: rewritten } : null;
}
