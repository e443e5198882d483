import { createRequire } from 'node:module';
import type { Client, Dispatcher } from 'undici';
import type { ConnectCallback, Connector } from './connector.js';
import { HeldReads } from './held-reads.js';
import { RequestWrites } from './request-writes.js';

/** The part of a request that its client needs. */
export interface ClientRequest {
  /** Whether it has a response or was aborted. */
  readonly isOver: boolean;
  /** Called before it is sent, with the reads and writes of its connection. */
  onAssigned(reads: HeldReads, writes: RequestWrites): void;
  /** Called when a connection is opened for it; `cancel` stops that. */
  onConnecting(cancel: () => void): void;
}

/** A client, with one connection at a time. */
interface AssignedClient {
  readonly tracked: ClientRequest | null;
  readonly reads: HeldReads;
  readonly writes: RequestWrites;
}

export interface AbortAwareOptions extends Dispatcher.DispatchOptions {
  readonly tracked: ClientRequest;
}

type OpenPool = (origin: string, connector: Connector, options: Client.Options) => Dispatcher;

/** Loaded with the first call, because undici slows down the start. */
let openPool: OpenPool | null = null;

/**
 * Opens a pool that opens no connection for an aborted request. undici alone connects first and
 * checks for an abort afterwards, which loads a provider when it is slowest. With pipelining 1 a
 * client sends one request at a time.
 */
export function openAbortAwarePool(
  origin: string,
  connector: Connector,
  options: Client.Options,
): Dispatcher {
  openPool ??= loadUndici();
  return openPool(origin, connector, options);
}

function loadUndici(): OpenPool {
  const { Client, Pool } = createRequire(import.meta.url)('undici') as typeof import('undici');

  class AbortAwareClient extends Client {
    tracked: ClientRequest | null = null;
    readonly reads = new HeldReads();
    readonly writes = new RequestWrites();

    override dispatch(
      options: Dispatcher.DispatchOptions,
      handler: Dispatcher.DispatchHandler,
    ): boolean {
      this.tracked = (options as AbortAwareOptions).tracked;
      this.tracked.onAssigned(this.reads, this.writes);
      return super.dispatch(options, handler);
    }
  }

  const createClient = (origin: URL, connector: Connector, options: Client.Options) => {
    const client: AbortAwareClient = new AbortAwareClient(origin, {
      ...options,
      connect: (_target, callback) => connectFor(client, connector, callback),
    });
    return client;
  };
  return (origin, connector, options) =>
    new Pool(origin, {
      // The host limits the concurrency of a module; a limit here would queue calls invisibly.
      connections: null,
      factory: (target) => createClient(target, connector, options),
    });
}

function connectFor(
  { tracked: request, reads, writes }: AssignedClient,
  connector: Connector,
  opened: ConnectCallback,
): void {
  if (request === null || request.isOver) {
    // Deferred, because undici calls this inside its own loop. The error clears the client's queue.
    queueMicrotask(() => opened(new Error('the request is over'), null));
    return;
  }
  const socket = connector.open(opened);
  reads.attach(socket);
  writes.attach(socket);
  request.onConnecting(() => socket.destroy());
}
