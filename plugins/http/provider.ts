import {
  type Balancing,
  joinBody,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import type { Credentials } from './credentials.js';
import { withDeadline } from './deadline.js';
import type { Replica } from './replica.js';
import { type AdministrativeOperation, requestFor } from './requests.js';
import { sendUpstream, type UpstreamLimits } from './upstream-request.js';

const MANIFEST_TIMEOUT_MS = 5_000;
const MAX_MANIFEST_BYTES = 4 * 1_048_576;
/** The body of a health check says nothing; it is read so that the connection can be used again. */
const MAX_HEALTH_BYTES = 1_048_576;

/** What the host says of itself when it asks on its own account. */
const OWN_HEADERS = { accept: 'application/json', 'accept-encoding': 'identity' };

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type Headers = Readonly<Record<string, string>>;

export interface HttpProviderOptions {
  /** In the order of the config. */
  readonly replicas: readonly [Replica, ...Replica[]];
  readonly balancing: Balancing;
  readonly credentials: Credentials | null;
  readonly manifestPath: string;
  /** `null`: a check connects, no more. */
  readonly healthPath: string | null;
  readonly checkTimeoutMs: number;
}

export function createHttpProvider(options: HttpProviderOptions): Provider {
  const { replicas, credentials, manifestPath, healthPath } = options;
  const byId = new Map(replicas.map((replica) => [replica.id, replica]));
  const endpoints = replicas.map(({ id, weight }) => ({ id, weight }));
  const authorise = (headers: Headers): Headers =>
    credentials === null ? headers : { ...headers, [credentials.name]: credentials.value.reveal() };

  const get = (replica: Replica, path: string, maxResponseBytes: number, signal: AbortSignal) =>
    sendUpstream(
      replica.pool,
      { method: 'GET', path: replica.prefix + path, headers: authorise(OWN_HEADERS), body: null },
      { maxResponseBytes, signal },
    );

  const checkOne = async (replica: Replica, signal: AbortSignal) => {
    if (healthPath === null) return replica.connector.probe(signal);
    const { status } = await get(replica, healthPath, MAX_HEALTH_BYTES, signal);
    if (!isSuccess(status)) throw unexpectedStatus('health check', status);
  };

  const administer = async (
    { pool, prefix }: Replica,
    operation: AdministrativeOperation,
    given: Headers,
    limits: UpstreamLimits,
  ) => {
    const { method, path, body } = requestFor(operation);
    const headers = authorise(describeBody(given, body));
    return sendUpstream(pool, { method, path: prefix + path, headers, body }, limits);
  };

  return {
    endpoints: () => endpoints,
    balancing: () => options.balancing,

    manifest: (signal) =>
      withDeadline(signal, MANIFEST_TIMEOUT_MS, async (deadline) => {
        const read = async (replica: Replica) =>
          parseManifest(await get(replica, manifestPath, MAX_MANIFEST_BYTES, deadline));
        return firstThatAnswers(replicas, deadline, read);
      }),

    check: (signal, endpoint) =>
      withDeadline(signal, options.checkTimeoutMs, async (deadline) => {
        const asked = endpoint === undefined ? replicas : [findReplica(byId, endpoint)];
        await firstThatAnswers(asked, deadline, (replica) => checkOne(replica, deadline));
      }),

    // Not `async`: a promise more for each call would be all that it did.
    invoke(invocation) {
      const { endpoint, headers, operation, maxResponseBytes } = invocation;
      const replica = endpoint === undefined ? replicas[0] : byId.get(endpoint);
      if (replica === undefined) return Promise.reject(unknownEndpoint());
      const limits = { maxResponseBytes, signal: invocation.cancellation ?? invocation.signal };
      if (operation.kind !== 'http_route') return administer(replica, operation, headers, limits);
      const { method, target, body } = operation;
      const path = replica.prefix + target;
      return sendUpstream(
        replica.pool,
        { method, path, headers: authorise(headers), body },
        limits,
      );
    },
  };
}

function findReplica(byId: ReadonlyMap<string, Replica>, endpoint: string): Replica {
  const replica = byId.get(endpoint);
  if (replica !== undefined) return replica;
  throw unknownEndpoint();
}

function unknownEndpoint(): ProviderFailure {
  return new ProviderFailure('unavailable', 'the endpoint is not one of this provider');
}

/** One replica that is down must not keep a module from being read. */
async function firstThatAnswers<T>(
  replicas: readonly Replica[],
  signal: AbortSignal,
  ask: (replica: Replica) => Promise<T>,
): Promise<T> {
  let last: unknown;
  for (const replica of replicas) {
    try {
      return await ask(replica);
    } catch (error) {
      last = error;
      if (signal.aborted) break;
    }
  }
  throw last;
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

function describeBody(headers: Headers, body: Buffer | null): Headers {
  return body === null ? headers : { ...headers, 'content-type': 'application/json' };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function unexpectedStatus(subject: string, status: number): ProviderFailure {
  return new ProviderFailure('unavailable', `${subject} was answered with ${status}`, { status });
}
