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

/** Sent with the navigation from the issuer, which is another site. */
export const OIDC_COOKIE: CookieKind = {
  name: 'modgate-oidc',
  path: OIDC,
  sameSite: 'Lax',
};

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
  if (origin === null || header === null) return null;
  const prefix = `${nameOf(kind, origin)}=`;
  const values = header
    .split(/[;,]/)
    .map((part) => part.trim())
    .filter((part) => part.startsWith(prefix));
  const [only] = values;
  return only === undefined || values.length > 1 ? null : only.slice(prefix.length);
}

function nameOf({ name }: CookieKind, origin: string): string {
  return isHttps(origin) ? `__Host-${name}` : name;
}

function isHttps(origin: string): boolean {
  return origin.startsWith('https:');
}
