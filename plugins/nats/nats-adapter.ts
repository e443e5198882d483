import {
  type Authenticator,
  credsAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import {
  type Balancing,
  defineAdapter,
  type OpenContext,
  type Provider,
} from '../../core/contract/index.js';
import { DEFAULT_CHECK_TIMEOUT_MS, readBalancing } from '../shared/balancing.js';
import { withDeadline } from '../shared/deadline.js';
import { createUnknownEndpoint } from '../shared/failures.js';
import {
  assertSuccess,
  MANIFEST_TIMEOUT_MS,
  MAX_MANIFEST_BYTES,
  readManifestResponse,
} from '../shared/own-requests.js';
import { DEFAULT_INBOX, type NatsConfig, natsConfig } from './config.js';
import { createConnectOptions } from './connect-options.js';
import { NatsLink } from './nats-link.js';
import { createNatsRequest, EMPTY, type RequestKind } from './requests.js';

/** Headers of manifest requests and health checks. */
const OWN_HEADERS = { accept: 'application/json' };

/** Kind `nats`: request and reply over NATS; the subscribers of a queue group are the replicas. */
export const natsAdapter = defineAdapter({
  kind: 'nats',
  config: natsConfig,
  supports: { manifest: true, admin: true, configure: true },
  describeConfig: () => ({ hostUses: [] }),
  open: (config: NatsConfig, context) => {
    const authenticator = readCredentials(config.auth, context.secret);
    const link = new NatsLink({
      servers: createConnectOptions(config, authenticator, context),
      subject: config.subject,
      inbox: config.inbox ?? DEFAULT_INBOX,
      log: context.log,
    });
    context.scope.defer(() => link.close());
    link.start();
    return createNatsProvider(link, `nats:${config.subject}`, readBalancing(config));
  },
});

function createNatsProvider(link: NatsLink, id: string, balancing: Balancing): Provider {
  const send = (kind: RequestKind, maxResponseBytes: number, signal: AbortSignal) =>
    link.request({ kind, headers: OWN_HEADERS, payload: EMPTY }, { maxResponseBytes, signal });

  return {
    endpoints: () => [{ id, weight: 1 }],
    balancing: () => balancing,

    manifest: (signal) =>
      withDeadline(signal, MANIFEST_TIMEOUT_MS, async (deadline) =>
        readManifestResponse(
          'the manifest request',
          await send('manifest', MAX_MANIFEST_BYTES, deadline),
        ),
      ),

    check: (signal) =>
      withDeadline(
        signal,
        balancing.health?.timeoutMs ?? DEFAULT_CHECK_TIMEOUT_MS,
        async (deadline) => {
          const { status } = await send('check', MAX_MANIFEST_BYTES, deadline);
          assertSuccess('the health check', status);
        },
      ),

    invoke: async (invocation) => {
      const { maxResponseBytes, endpoint } = invocation;
      if (endpoint !== undefined && endpoint !== id) throw createUnknownEndpoint();
      const signal = invocation.cancellation ?? invocation.signal;
      return link.request(createNatsRequest(invocation), { maxResponseBytes, signal });
    },
  };
}

/** Signed once at the start, so that an invalid seed is detected early. */
const ANY_NONCE = 'nonce';

/** @throws Error for an invalid seed or credentials file; the message names the key, not the value. */
function readCredentials(
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
    // Omits the cause, which may contain the secret.
    throw new Error(expected);
  }
  return authenticator;
}
