import { MODULE_REDIRECTS } from '../../descriptor/expose-headers.js';
import type { EndpointBase } from '../../provider/endpoint-base.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { CalledAddress } from './called-address.js';

/** Statuses whose `location` clients follow. */
const FOLLOWED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Uploads that can be resumed answer an incomplete one with it. */
const PERMANENT_REDIRECT = 308;

/** The place of a module at its provider and at the host. */
export interface ReferenceContext {
  /** The base of the endpoint that responded; `null` for one that names no URL. */
  readonly base: EndpointBase | null;
  /** The bases of all endpoints of the module, and of its other origins. */
  readonly bases: readonly EndpointBase[];
  /** The base at the host that was called: `/modules/acme%2Fcrm/http`, that of a mount, or nothing for `/`. */
  readonly prefix: string;
  /** The address that the provider received as its own; absent or `null` without `forward_client`. */
  readonly called?: CalledAddress | null;
}

/** Visible ASCII without the backslash, which URL parsers read as a slash. */
const SAFE = /^[!-[\]-~]*$/;
const HTTP_URL = /^https?:\/\//i;
/** The base of endpoints without a URL: no reference has its origin. */
const NO_BASE: EndpointBase = { origin: 'http://module.invalid', path: '' };

/**
 * A reference of a provider as a caller can follow it.
 * @returns the path at the host of a reference below the base path of an endpoint, the reference itself if it
 * leads elsewhere, and `null` for one that must be dropped: outside the base path, or not a reference.
 */
export function rewriteReference(reference: string, context: ReferenceContext): string | null {
  if (!SAFE.test(reference)) return null;
  const base = context.base ?? NO_BASE;
  const absolute = resolve(reference, base);
  if (absolute === null) return reference;
  if (!URL.canParse(absolute)) return null;
  const { origin, pathname, search, hash } = new URL(absolute);
  const { called = null } = context;
  const isCalledOrigin = called !== null && origin === called.origin;
  if (called !== null && removePrefix(pathname, called.prefix) !== null) {
    if (isCalledOrigin) return reference;
    // Without a prefix, a path says nothing of the address that it belongs to.
    const isPrefixed = called.prefix !== '' && origin === base.origin;
    if (isPrefixed) return reference.startsWith('/') ? reference : pathname + search + hash;
  }
  const candidates =
    isCalledOrigin || origin === base.origin
      ? [base]
      : context.bases.filter((other) => other.origin === origin);
  if (candidates.length === 0) return reference;
  for (const candidate of candidates) {
    const local = removePrefix(pathname, candidate.path);
    if (local === null) continue;
    const path = context.prefix + local;
    // Two slashes would begin the name of another host.
    return path.startsWith('//') ? null : path + search + hash;
  }
  return null;
}

/** `null` for a reference that is relative to the request, and for other schemes than http. */
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
 * @returns `null` if none is left, and for a header that cannot be parsed.
 */
export function rewriteLinks(header: string, context: ReferenceContext): string | null {
  const links: string[] = [];
  let at = skipSeparators(header, 0);
  while (at < header.length) {
    const targetEnd = header[at] === '<' ? header.indexOf('>', at) : -1;
    const end = targetEnd === -1 ? -1 : findLinkEnd(header, targetEnd + 1);
    if (end === -1) return null;
    const target = rewriteReference(header.slice(at + 1, targetEnd), context);
    if (target !== null) links.push(`<${target}>${header.slice(targetEnd + 1, end).trimEnd()}`);
    at = skipSeparators(header, end);
  }
  return links.length === 0 ? null : links.join(', ');
}

function skipSeparators(header: string, from: number): number {
  let at = from;
  while (header[at] === ',' || header[at] === ' ' || header[at] === '\t') at += 1;
  return at;
}

/** The next comma outside quotes, or the end; -1 for an open quote. */
function findLinkEnd(header: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < header.length; at += 1) {
    const character = header[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted && character === '\\') at += 1;
    else if (!isQuoted && character === ',') return at;
  }
  return isQuoted ? -1 : header.length;
}

/** A redirect that the caller gets. */
interface PassedRedirect {
  /** `null` for a 308 without one. */
  readonly location: string | null;
}

/**
 * Which redirects of a provider the caller gets, by `responses.redirects`. The host follows none.
 * @param target of the request at the provider, which a relative `location` starts from
 * @returns `null` for any other
 */
export function passRedirect(
  { status, headers }: CheckedOutcome,
  allowed: readonly string[],
  context: ReferenceContext,
  target: string,
): PassedRedirect | null {
  if (!FOLLOWED.has(status) || allowed.length === 0) return null;
  const { location } = headers;
  if (location === undefined) {
    const isPassed = status === PERMANENT_REDIRECT && allowed.includes(MODULE_REDIRECTS);
    return isPassed ? { location: null } : null;
  }
  const { origin, path } = context.base ?? NO_BASE;
  const requested = origin + path + target;
  if (location === '' || !SAFE.test(location) || !URL.canParse(location, requested)) return null;
  const { href: absolute, origin: other } = new URL(location, requested);
  const rewritten = rewriteReference(absolute, context);
  const leadsElsewhere = rewritten === absolute && other !== context.called?.origin;
  const isPassed =
    rewritten !== null && allowed.includes(leadsElsewhere ? other : MODULE_REDIRECTS);
  return isPassed ? { location: rewritten } : null;
}
