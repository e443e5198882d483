import { CONSOLE, OIDC } from '../paths.js';

/** A cookie of the console. The origin of the host determines its name and attributes. */
interface CookieKind {
  /** Has the prefix `__Host-` under https. */
  readonly name: string;
  /** The path on loopback; under https the prefix requires `/`. */
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax';
}

export const SESSION_COOKIE: CookieKind = { name: 'modgate', path: CONSOLE, sameSite: 'Strict' };

const OIDC_PREFIX = 'modgate-oidc-';

/** The cookie of one pending sign-in. Sent with the navigation from the issuer, another site. */
export function createOidcCookie(id: string): CookieKind {
  return { name: OIDC_PREFIX + id, path: OIDC, sameSite: 'Lax' };
}

/** @param maxAgeSeconds 0 removes the cookie; `null` keeps it until the browser closes */
export function formatCookie(
  kind: CookieKind,
  origin: string,
  value: string,
  maxAgeSeconds: number | null,
): string {
  const isSecure = isHttps(origin);
  return [
    `${nameOf(kind, origin)}=${value}`,
    `Path=${isSecure ? '/' : kind.path}`,
    ...(isSecure ? ['Secure'] : []),
    'HttpOnly',
    `SameSite=${kind.sameSite}`,
    ...(maxAgeSeconds === null ? [] : [`Max-Age=${maxAgeSeconds}`]),
  ].join('; ');
}

/**
 * Returns the value of the cookie; `null` without it, and for two of them: another application on
 * the same host name could have set one.
 */
export function readCookie(
  kind: CookieKind,
  origin: string | null,
  header: string | null,
): string | null {
  if (origin === null) return null;
  const name = nameOf(kind, origin);
  const [only, ...others] = parseCookies(header).filter((cookie) => cookie.name === name);
  return only === undefined || others.length > 0 ? null : only.value;
}

/** Lists the pending sign-ins of the browser by the id of their cookies. */
export function listOidcCookies(origin: string, header: string | null) {
  const prefix = nameOf({ name: OIDC_PREFIX }, origin);
  return parseCookies(header)
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, value }) => ({ id: name.slice(prefix.length), value }));
}

function parseCookies(header: string | null) {
  return (header ?? '').split(/[;,]/).map((part) => {
    const [name = '', ...value] = part.trim().split('=');
    return { name, value: value.join('=') };
  });
}

function nameOf({ name }: Pick<CookieKind, 'name'>, origin: string): string {
  return isHttps(origin) ? `__Host-${name}` : name;
}

function isHttps(origin: string): boolean {
  return origin.startsWith('https:');
}
