import { isIP } from 'node:net';
import { type Client, type Dispatcher, Pool } from 'undici';
import { createCarrier } from './carrier.js';
import { type Address, type Connector, createConnector } from './connector.js';
import { NameWatch } from './name-watch.js';
import { type ResolveName, resolveName } from './resolve-name.js';

/** The most that undici reads of a response's head, as Node's own server does (16 KiB). */
const MAX_HEADER_BYTES = 16_384;

/**
 * How long an idle connection is kept when the provider gives no `keep-alive: timeout=`: below the
 * 5 s of a Node server, which closes first otherwise and costs a retry.
 */
const KEEP_ALIVE_MS = 4_000;

const CLIENT_OPTIONS: Client.Options = {
  pipelining: 1,
  allowH2: false,
  // The host's deadline governs: an abort ends a call at any stage.
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: KEEP_ALIVE_MS,
};

export interface ReplicaOptions {
  /** What ops see; unique in its provider. */
  readonly id: string;
  readonly weight: number;
  /** What `host` says. */
  readonly origin: string;
  /** In front of every target: empty, or a path without a trailing slash. */
  readonly prefix: string;
  readonly address: Address;
}

/** One endpoint with connections of its own: they belong to one module, never to a URL alone. */
export class Replica {
  readonly id: string;
  readonly weight: number;
  readonly prefix: string;
  readonly connector: Connector;
  readonly #origin: string;
  readonly #watch: NameWatch | null;
  /** Made for the first call: it is 18 KiB, as much as all else that a module takes. */
  #pool: Dispatcher | null = null;

  constructor(
    { id, weight, origin, prefix, address }: ReplicaOptions,
    resolve: ResolveName = resolveName,
  ) {
    this.id = id;
    this.weight = weight;
    this.prefix = prefix;
    this.connector = createConnector(address);
    this.#origin = origin;
    this.#watch = createNameWatch(address, resolve, () => this.#leavePool());
  }

  /** The pool for one call: it is another one once the name of the endpoint has moved. */
  get pool(): Dispatcher {
    this.#watch?.touch();
    return this.#openPool();
  }

  /** Who calls afterwards finds a pool that is closed, also where there was none. */
  async close(): Promise<void> {
    await this.#openPool().destroy();
    this.connector.close();
  }

  #openPool(): Dispatcher {
    this.#pool ??= new Pool(this.#origin, {
      // The host limits concurrency a module; a second, smaller limit here would queue in silence.
      connections: null,
      factory: (target) => createCarrier(target, this.connector, CLIENT_OPTIONS),
    });
    return this.#pool;
  }

  /** Its calls end where they are; the connector ends them with the scope at the latest. */
  #leavePool(): void {
    this.#pool?.close().catch(() => {});
    this.#pool = null;
  }
}

/** `null` for an address that cannot move. */
function createNameWatch(
  address: Address,
  resolve: ResolveName,
  onMove: () => void,
): NameWatch | null {
  if (address.kind === 'unix' || isIP(address.host) !== 0) return null;
  return new NameWatch(address.host, resolve, onMove);
}
