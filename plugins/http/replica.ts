import { isIP } from 'node:net';
import { type Client, type Dispatcher, Pool } from 'undici';
import { createCarrier } from './carrier.js';
import { type Address, type Connector, createConnector } from './connector.js';
import { NameWatch } from './name-watch.js';
import { type ResolveName, resolveName } from './resolve-name.js';

/** Maximum size of a response head, as in Node's own server. */
const MAX_HEADER_BYTES = 16_384;

/**
 * For idle connections of providers without `keep-alive: timeout=`. It is below the 5 s of a Node server,
 * which would otherwise close first and cost a retry.
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
  readonly weight: number;
  /** For the `host` header. */
  readonly origin: string;
  /** Prefix of every target: empty, or a path without a trailing slash. */
  readonly prefix: string;
  readonly address: Address;
}

/** One endpoint with its own connections, which are never shared between modules. */
export class Replica {
  readonly id: string;
  readonly weight: number;
  readonly prefix: string;
  /** Where its targets begin. */
  readonly url: string;
  readonly connector: Connector;
  readonly #origin: string;
  readonly #watch: NameWatch | null;
  /** Created for the first call: it takes 18 KiB, as much as the rest of a module. */
  #pool: Dispatcher | null = null;

  constructor(
    { id, weight, origin, prefix, address }: ReplicaOptions,
    resolve: ResolveName = resolveName,
  ) {
    this.id = id;
    this.weight = weight;
    this.prefix = prefix;
    this.url = origin + prefix;
    this.connector = createConnector(address);
    this.#origin = origin;
    this.#watch = createNameWatch(address, resolve, () => this.#replacePool());
  }

  /** The pool for one call; it is replaced when the name of the endpoint has new addresses. */
  get pool(): Dispatcher {
    this.#watch?.touch();
    return this.#pool ?? this.#openPool();
  }

  /** Later calls get a closed pool, even if there was none. */
  async close(): Promise<void> {
    await this.#openPool().destroy();
    this.connector.close();
  }

  #openPool(): Dispatcher {
    this.#pool ??= new Pool(this.#origin, {
      // The host limits the concurrency of a module; a limit here would queue calls unnoticed.
      connections: null,
      factory: (target) => createCarrier(target, this.connector, CLIENT_OPTIONS),
    });
    return this.#pool;
  }

  /** Calls in progress finish on the old pool; the connector ends them with the scope at the latest. */
  #replacePool(): void {
    this.#pool?.close().catch(() => {});
    this.#pool = null;
  }
}

/** `null` for an address without a name. */
function createNameWatch(
  address: Address,
  resolve: ResolveName,
  onChange: () => void,
): NameWatch | null {
  if (address.kind === 'unix' || isIP(address.host) !== 0) return null;
  return new NameWatch(address.host, resolve, onChange);
}
