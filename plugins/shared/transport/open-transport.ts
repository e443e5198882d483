import { type Provider, ProviderFailure } from '../../../core/contract/index.js';
import { DEFAULT_CHECK_TIMEOUT_MS, readBalancing } from '../balancing.js';
import { withDeadline } from '../deadline.js';
import { createUnknownEndpoint } from '../failures.js';
import type { EndpointSet } from './endpoint-set.js';
import type { Sender } from './send-request.js';
import type { EndpointClient, OpenTransport } from './transport.js';
import type { TransportConfig } from './transport-config.js';

interface OpenEndpoints<T extends EndpointClient> {
  readonly set: Pick<EndpointSet<never, T>, 'endpoints' | 'first' | 'list' | 'find'>;
  readonly follow?: NonNullable<Provider['followEndpoints']>;
}

/** Joins opened endpoints with the credentials and the balancing of a config. */
export function openTransport<T extends EndpointClient>(
  { set, follow }: OpenEndpoints<T>,
  config: Pick<TransportConfig, 'strategy' | 'hash_header' | 'health'>,
  { send, problem }: Sender,
): OpenTransport<T> {
  const balancing = readBalancing(config);
  const timeoutMs = balancing.health?.timeoutMs ?? DEFAULT_CHECK_TIMEOUT_MS;
  const find = (id?: string) => {
    const client = id === undefined ? set.first : set.find(id);
    if (client === undefined) throw createUnknownEndpoint();
    return client;
  };
  return {
    provider: {
      endpoints: () => set.endpoints,
      ...(follow && { followEndpoints: follow }),
      balancing: () => balancing,
      credentialProblem: problem,
    },
    list: () => set.list(),
    find,
    send,
    tryEach: (signal, run) => tryInTurn(set.list(), signal, run),
    createCheck: (run) => (signal, id) =>
      withDeadline(signal, timeoutMs, (deadline) =>
        tryInTurn(id === undefined ? set.list() : [find(id)], deadline, (client) =>
          run(client, deadline),
        ),
      ),
  };
}

/** Returns the first success, so that one unavailable endpoint does not block the others. */
async function tryInTurn<T, R>(
  clients: readonly T[],
  signal: AbortSignal,
  run: (client: T) => Promise<R>,
): Promise<R> {
  let last: unknown = new ProviderFailure('unavailable', 'there is no endpoint', {
    phase: 'connecting',
  });
  for (const client of clients) {
    try {
      return await run(client);
    } catch (error) {
      last = error;
      if (signal.aborted) break;
    }
  }
  throw last;
}
