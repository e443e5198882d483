import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import type { Outcome } from '../../core/contract/index.js';
import type { CallLimits, CallTarget, EndpointRequest } from '../shared/transport/send-request.js';
import type { EndpointClient } from '../shared/transport/transport.js';
import { openAbortAwarePool } from './abort-aware-pool.js';
import { type Address, type Connector, createConnector } from './connector.js';
import { sendUpstream } from './upstream-request.js';

/** Maximum size of a response head, as in Node's own server. */
const MAX_HEADER_BYTES = 16_384;

/**
 * The lifetime of idle connections to providers without `keep-alive: timeout=`. It is below the 5 s
 * of a Node server, which would otherwise close first and cause a retry.
 */
const KEEP_ALIVE_MS = 4_000;

const CLIENT_OPTIONS: Client.Options = {
  pipelining: 1,
  allowH2: false,
  // The host's deadline aborts a call at any stage.
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: KEEP_ALIVE_MS,
};

export interface ReplicaOptions {
  /** Shown to operators; unique in its provider. */
  readonly id: string;
  /** The origin for the `host` header. */
  readonly origin: string;
  /** Prefix of every target: empty, or a path without a trailing slash. */
  readonly prefix: string;
  readonly address: Address;
}

/** One endpoint with its own connections, which modules never share. */
export class Replica implements CallTarget, EndpointClient {
  readonly id: string;
  readonly prefix: string;
  /** The base URL of its targets. */
  readonly url: string;
  readonly #connector: Connector;
  readonly #origin: string;
  readonly #watch: NameWatch | null;
  /** Created for the first call: it takes 18 KiB, as much as the rest of a module. */
  #pool: Dispatcher | null = null;
  #isClosed = false;

  constructor({ id, origin, prefix, address }: ReplicaOptions, resolve: ResolveName = resolveName) {
    this.id = id;
    this.prefix = prefix;
    this.url = origin + prefix;
    this.#connector = createConnector(address);
    this.#origin = origin;
    this.#watch = createNameWatch(address, resolve, () => this.#replacePool());
  }

  /** The pool for one call; it is replaced when the name of the endpoint has new addresses. */
  get pool(): Dispatcher {
    this.#watch?.touch();
    return this.#pool ?? this.#openPool();
  }

  send(
    { method, target, headers, body, upgrade }: EndpointRequest,
    limits: CallLimits,
  ): Promise<Outcome> {
    const request = { method, path: this.prefix + target, headers, body, upgrade };
    return sendUpstream(this.pool, request, limits);
  }

  probe(signal: AbortSignal): Promise<void> {
    return this.#connector.probe(signal);
  }

  /** Closes the pool; later calls get a closed pool, even if none was open. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
    this.#connector.close();
  }

  /**
   * Lets calls in flight finish. A call that waits for its credentials may still get a connection:
   * retire the replica again then.
   */
  retire(): void {
    this.#replacePool();
  }

  /** Whether it has no connection. */
  get isUnused(): boolean {
    return this.#pool === null && this.#connector.isUnused;
  }

  #openPool(): Dispatcher {
    this.#pool = openAbortAwarePool(this.#origin, this.#connector, CLIENT_OPTIONS);
    // A pool without connections has nothing to wait for.
    if (this.#isClosed) void this.#pool.destroy();
    return this.#pool;
  }

  /**
   * Lets calls in flight finish on the old pool; the connector closes them with the scope at the
   * latest.
   */
  #replacePool(): void {
    this.#pool?.close().catch(() => {});
    this.#pool = null;
  }
}

/** Returns `null` for an address without a name. */
function createNameWatch(
  address: Address,
  resolve: ResolveName,
  onChange: () => void,
): NameWatch | null {
  if (address.kind === 'unix' || isIP(address.host) !== 0) return null;
  return new NameWatch(address.host, resolve, onChange);
}

/**
 * Detects that a name resolves to other addresses. New connections resolve it anyway; this is for
 * open connections, which would keep an old address while they are busy.
 *
 * A call with an expired result starts a lookup in the background; a module without calls starts
 * none.
 */
class NameWatch {
  readonly #host: string;
  readonly #resolve: ResolveName;
  readonly #onChange: () => void;
  #known: string | null = null;
  #nextLookupAt = 0;
  #isResolving = false;

  constructor(host: string, resolve: ResolveName, onChange: () => void) {
    this.#host = host;
    this.#resolve = resolve;
    this.#onChange = onChange;
  }

  touch(): void {
    if (this.#isResolving || performance.now() < this.#nextLookupAt) return;
    this.#isResolving = true;
    // Never rejects.
    void this.#lookUp();
  }

  async #lookUp(): Promise<void> {
    let nextMs = RETRY_MS;
    try {
      const { addresses, ttlMs } = await this.#resolve(this.#host);
      nextMs = ttlMs;
      const before = this.#known;
      this.#known = addresses.join(' ');
      if (before !== null && before !== this.#known) this.#onChange();
    } catch {
      // Keeps the open connections.
    }
    this.#nextLookupAt = performance.now() + nextMs;
    this.#isResolving = false;
  }
}

/** The bounds of the used time to live. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;

const SYSTEM = new Resolver();

export interface ResolvedName {
  /** Sorted, so that two results can be compared. */
  readonly addresses: readonly string[];
  /** How long the result is valid. */
  readonly ttlMs: number;
}

/**
 * Queries DNS, which has a time to live. A name that only the system resolves (`/etc/hosts`, a
 * search domain) is valid for the longest time.
 * @throws Error when the name cannot be resolved.
 */
export async function resolveName(host: string, resolver = SYSTEM): Promise<ResolvedName> {
  const queries = [resolver.resolve4(host, { ttl: true }), resolver.resolve6(host, { ttl: true })];
  const answers = await Promise.allSettled(queries);
  const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (records.length === 0) {
    const systemAddresses = await lookup(host, { all: true });
    return { addresses: systemAddresses.map(({ address }) => address).sort(), ttlMs: LONGEST_MS };
  }
  const ttlMs = 1_000 * Math.min(...records.map(({ ttl }) => ttl));
  return {
    addresses: records.map(({ address }) => address).sort(),
    ttlMs: Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ttlMs)),
  };
}

type ResolveName = (host: string) => Promise<ResolvedName>;

/** The time after a failed lookup; the last result is used until then. */
const RETRY_MS = LONGEST_MS;
