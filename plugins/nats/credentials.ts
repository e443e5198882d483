import {
  type Authenticator,
  credsAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import type { OpenContext } from '../../core/contract/index.js';
import type { NatsConfig } from './config.js';

/** Signed once at the start, so that an invalid seed is detected early. */
const ANY_NONCE = 'nonce';

/** @throws Error for an invalid seed or credentials file; the message names the key, not the value. */
export function readCredentials(
  config: NatsConfig['auth'],
  secret: OpenContext['secret'],
): Authenticator | null {
  if (config === undefined) return null;
  const { user, token, nkey, creds } = config;
  if (user !== undefined) {
    return usernamePasswordAuthenticator(user.name, secret(user.password).reveal());
  }
  if (token !== undefined) return tokenAuthenticator(secret(token).reveal());
  if (nkey !== undefined) {
    const seed = Buffer.from(secret(nkey).reveal().trim());
    return assertUsable(
      nkeyAuthenticator(seed),
      'auth.nkey must resolve to the seed of a user nkey',
    );
  }
  if (creds === undefined) return null;
  const file = Buffer.from(secret(creds).reveal());
  return assertUsable(credsAuthenticator(file), 'auth.creds must resolve to a credentials file');
}

function assertUsable(authenticator: Authenticator, expected: string): Authenticator {
  try {
    authenticator(ANY_NONCE);
  } catch {
    // Without the cause, which may contain the secret.
    throw new Error(expected);
  }
  return authenticator;
}
