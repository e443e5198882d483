import type { Actor, ActorKind, Authenticator } from '../contract/index.js';
import { SCOPE } from '../lib/actor-name.js';
import { isProxyHeader } from '../lib/loopback.js';
import { MAX_TOKEN_LENGTH, TOKEN_ID } from './actor-syntax.js';

const DEV_PREFIX = /^dev-(?:service|system|user):/;

/** `dev-<kind>:<id>` and, after the next colon, the scopes. */
const DEV_TOKEN = /^dev-(service|system|user):([^:]*)(?::(.*))?$/;

/**
 * Accepts every token of the form `dev-service:<id>[:<scope>,<scope>…]`, `dev-user:<id>[:<scopes>]`
 * or `dev-system:<id>`. A scope may contain a colon. An empty scope or list of scopes is rejected:
 * the cause is more likely an empty variable of a script than intent.
 *
 * @param holds where tokens are accepted; `loopback` excludes requests that a proxy has forwarded
 */
export function createDevAuthenticator(
  acceptedFrom: 'anywhere' | 'loopback' | 'nowhere' = 'loopback',
): Authenticator {
  return {
    name: 'dev',
    authenticate: ({ scheme, token, headers }) => {
      if (scheme !== 'bearer' || !DEV_PREFIX.test(token)) return null;
      const isRefused =
        acceptedFrom === 'nowhere' ||
        (acceptedFrom === 'loopback' && [...headers.keys()].some(isProxyHeader));
      if (isRefused) return { rejected: 'unknown' };
      return parseDevToken(token) ?? { rejected: 'malformed' };
    },
  };
}

/** `null` for any other token. */
export function parseDevToken(token: string): Actor | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  const match = DEV_TOKEN.exec(token);
  if (match === null) return null;
  const [, kind, id = '', list] = match;
  if (!TOKEN_ID.test(id)) return null;
  if (list === undefined) return { kind: kind as ActorKind, id, scopes: new Set() };
  const scopes = list.split(',');
  if (kind === 'system' || !scopes.every((scope) => SCOPE.test(scope))) return null;
  return { kind: kind as ActorKind, id, scopes: new Set(scopes) };
}
