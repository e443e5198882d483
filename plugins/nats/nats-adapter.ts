import {
  type Balancing,
  defineAdapter,
  joinBody,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import { readBalancing } from '../http/balancing.js';
import { withDeadline } from '../http/deadline.js';
import { DEFAULT_INBOX, type NatsConfig, natsConfig } from './config.js';
import { createConnectOptions } from './connect-options.js';
import { readCredentials } from './credentials.js';
import { NatsLink } from './nats-link.js';
import { EMPTY, type RequestKind, requestFor } from './requests.js';

const MANIFEST_TIMEOUT_MS = 5_000;
const MAX_MANIFEST_BYTES = 4 * 1_048_576;
const DEFAULT_CHECK_TIMEOUT_MS = 1_000;

/** What the host says of itself when it asks on its own account. */
const OWN_HEADERS = { accept: 'application/json' };

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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
  const ask = (kind: RequestKind, maxResponseBytes: number, signal: AbortSignal) =>
    link.request({ kind, headers: OWN_HEADERS, payload: EMPTY }, { maxResponseBytes, signal });

  return {
    endpoints: () => [{ id, weight: 1 }],
    balancing: () => balancing,

    manifest: (signal) =>
      withDeadline(signal, MANIFEST_TIMEOUT_MS, async (deadline) =>
        parseManifest(await ask('manifest', MAX_MANIFEST_BYTES, deadline)),
      ),

    check: (signal) =>
      withDeadline(
        signal,
        balancing.health?.timeoutMs ?? DEFAULT_CHECK_TIMEOUT_MS,
        async (deadline) => {
          const { status } = await ask('check', MAX_MANIFEST_BYTES, deadline);
          if (!isSuccess(status)) throw unexpectedStatus('health check', status);
        },
      ),

    invoke: async (invocation) => {
      const { maxResponseBytes, endpoint } = invocation;
      if (endpoint !== undefined && endpoint !== id) {
        throw new ProviderFailure('unavailable', 'the endpoint is not one of this provider');
      }
      const signal = invocation.cancellation ?? invocation.signal;
      return link.request(requestFor(invocation), { maxResponseBytes, signal });
    },
  };
}

/** @throws ProviderFailure unless the answer is 2xx with JSON in valid UTF-8. */
function parseManifest({ status, body }: Outcome): unknown {
  if (!isSuccess(status)) throw unexpectedStatus('manifest request', status);
  try {
    return JSON.parse(UTF8.decode(joinBody(body)));
  } catch (cause) {
    throw new ProviderFailure('protocol', 'manifest is not JSON', { cause, status });
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function unexpectedStatus(subject: string, status: number): ProviderFailure {
  return new ProviderFailure('unavailable', `${subject} was answered with ${status}`, { status });
}
