import {
  type Balancing,
  defineAdapter,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import { DEFAULT_CHECK_TIMEOUT_MS, readBalancing } from '../shared/balancing.js';
import { withDeadline } from '../shared/deadline.js';
import {
  assertSuccess,
  MANIFEST_TIMEOUT_MS,
  MAX_MANIFEST_BYTES,
  parseManifest,
} from '../shared/own-requests.js';
import { DEFAULT_INBOX, type NatsConfig, natsConfig } from './config.js';
import { createConnectOptions } from './connect-options.js';
import { readCredentials } from './credentials.js';
import { NatsLink } from './nats-link.js';
import { createNatsRequest, EMPTY, type RequestKind } from './requests.js';

/** Headers of manifest requests and health checks. */
const OWN_HEADERS = { accept: 'application/json' };

/** Kind `nats`: request and reply over NATS; the subscribers of a queue group are the replicas. */
export const natsAdapter = defineAdapter({
  kind: 'nats',
  config: natsConfig,
  supports: { manifest: true, admin: true, configure: true },
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
        parseManifest('the manifest request', await send('manifest', MAX_MANIFEST_BYTES, deadline)),
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
      if (endpoint !== undefined && endpoint !== id) {
        throw new ProviderFailure('unavailable', 'the endpoint is not one of this provider');
      }
      const signal = invocation.cancellation ?? invocation.signal;
      return link.request(createNatsRequest(invocation), { maxResponseBytes, signal });
    },
  };
}
