import type { Actor, ActorKind, Authenticator } from '../contract/index.js';
import { ACTOR_ID, MAX_TOKEN_LENGTH, SCOPE } from './actor-syntax.js';

/** `dev-<kind>:<id>` and, after the next colon, the scopes; neither kind nor id can hold a colon. */
const DEV_TOKEN = /^dev-(service|system|user):([^:]*)(?::(.*))?$/;

/**
 * Takes every token of the form `dev-service:<id>[:<scope>,<scope>…]`, `dev-user:<id>[:<scopes>]` or
 * `dev-system:<id>` at its word (contract 3). A scope may hold a colon. A colon with nothing after it is
 * refused, and so is an empty scope: more likely a script's empty variable than a wish for no scopes.
 */
export function createDevAuthenticator(): Authenticator {
  return {
    name: 'dev',
    authenticate: ({ scheme, token }) => (scheme === 'bearer' ? parseDevToken(token) : null),
  };
}

function parseDevToken(token: string): Actor | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  const match = DEV_TOKEN.exec(token);
  if (match === null) return null;
  const [, kind, id = '', list] = match;
  if (!ACTOR_ID.test(id)) return null;
  if (list === undefined) return { kind: kind as ActorKind, id, scopes: new Set() };
  const scopes = list.split(',');
  if (kind === 'system' || !scopes.every((scope) => SCOPE.test(scope))) return null;
  return { kind: kind as ActorKind, id, scopes: new Set(scopes) };
}
