import type { IncomingMessage } from 'node:http';
import { AUTHORIZATION_ONLY } from '../../auth/authenticate.js';
import type { CallerCredentials } from '../../auth/caller-credentials.js';
import type { CallerHeaders } from './headers.js';
import { removeOwnCookies } from './own-cookies.js';

const NONE: ReadonlySet<string> = new Set();

/** Which of the credential headers a request has. Cookies of the host itself are not credentials. */
export function findPresent(
  headers: CallerHeaders,
  credentialHeaders: readonly string[],
): ReadonlySet<string> {
  let present = NONE;
  for (const name of credentialHeaders) {
    if (!isPresent(headers, name)) continue;
    const isUsual = present === NONE && name === 'authorization';
    present = isUsual ? AUTHORIZATION_ONLY : new Set([...present, name]);
  }
  return present;
}

function isPresent(headers: CallerHeaders, name: string): boolean {
  const value = headers.get(name);
  if (value === undefined) return false;
  return name !== 'cookie' || removeOwnCookies(value) !== '';
}

/** The headers are read only for an authenticator that asks for them. */
export function createCredentials(
  req: IncomingMessage,
  { scheme, token }: Pick<CallerCredentials, 'scheme' | 'token'>,
): CallerCredentials {
  let headers: CallerCredentials['headers'] | null = null;
  return {
    scheme,
    token,
    method: req.method ?? '',
    target: req.url ?? '',
    address: req.socket.remoteAddress,
    get headers() {
      headers ??= listHeaders(req.rawHeaders);
      return headers;
    },
  };
}

/** @param raw names and values in turn, as sent */
function listHeaders(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const sent = raw[index + 1] ?? '';
    const value = name === 'cookie' ? removeOwnCookies(sent) : sent;
    if (name === 'cookie' && value === '') continue;
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  }
  return headers;
}
