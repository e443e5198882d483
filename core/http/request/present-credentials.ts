import type { IncomingMessage } from 'node:http';
import { AUTHORIZATION_ONLY } from '../../auth/authenticate.js';
import type { CallerCredentials } from '../../auth/caller-credentials.js';
import type { Client } from '../../operations/request.js';
import type { CallerHeaders } from './caller-headers.js';

const NONE: ReadonlySet<string> = new Set();

/** The credential headers of a request. Cookies of the host itself are not credentials. */
export function listPresentHeaders(
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

interface PresentingRequest {
  readonly req: IncomingMessage;
  readonly client: Client | null;
}

/** The credentials of a request. Its headers are read only if an authenticator needs them. */
export class RequestCredentials implements CallerCredentials {
  readonly scheme: string;
  readonly token: string;
  readonly method: string;
  readonly target: string;
  readonly address: string | undefined;
  readonly #req: IncomingMessage;
  #headers: CallerCredentials['headers'] | null = null;

  constructor(
    { req, client }: PresentingRequest,
    { scheme, token }: Pick<CallerCredentials, 'scheme' | 'token'>,
  ) {
    this.scheme = scheme;
    this.token = token;
    this.method = req.method ?? '';
    this.target = req.url ?? '';
    this.address = client?.address;
    this.#req = req;
  }

  get headers(): CallerCredentials['headers'] {
    this.#headers ??= groupHeaders(this.#req.rawHeaders);
    return this.#headers;
  }
}

/** @param raw names and values in turn, as sent */
function groupHeaders(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
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

/**
 * Matches cookies of the host, such as the session of its console. They are valid on its own pages
 * only.
 */
const OWN_COOKIE = /^(?:__host-|__secure-)?modgate(?:$|[-_.])/i;

/** A `cookie` header without the cookies of the host; empty if no other is left. */
function removeOwnCookies(header: string): string {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !OWN_COOKIE.test(pair.split('=', 1)[0]?.trim() ?? ''))
    .join('; ');
}
