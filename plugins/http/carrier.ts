import type { Dispatcher, Client as UndiciClient } from 'undici';
import type { Connector, Opened } from './connector.js';
import { Client } from './undici.js';

/** The request that a client carries, as far as the client must know it. */
export interface CarriedRequest {
  /** It was answered, or taken back: nobody waits for it. */
  readonly isOver: boolean;
  /** A connection is being made for it; `hangUp` ends that. */
  onConnecting(hangUp: () => void): void;
}

export interface CarriedOptions extends Dispatcher.DispatchOptions {
  readonly carried: CarriedRequest;
}

/**
 * A client of a pool that makes no connection which nobody waits for. Left alone, undici makes one for
 * each call that is taken back (it connects before it looks whether the request was aborted), and that
 * is when a provider is at its slowest. A client of a pool with pipelining 1 carries one request.
 */
export function createCarrier(
  origin: URL,
  connector: Connector,
  options: UndiciClient.Options,
): Dispatcher {
  const carrier: Carrier = new Carrier(origin, {
    ...options,
    connect: (_target, callback) => connectFor(carrier.carried, connector, callback),
  });
  return carrier;
}

class Carrier extends Client {
  carried: CarriedRequest | null = null;

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    this.carried = (options as CarriedOptions).carried;
    return super.dispatch(options, handler);
  }
}

function connectFor(carried: CarriedRequest | null, connector: Connector, opened: Opened): void {
  if (carried === null || carried.isOver) {
    // Not at once: undici calls from within its own loop. The error clears the client's queue.
    queueMicrotask(() => opened(new Error('nobody waits for this connection'), null));
    return;
  }
  const socket = connector.open(opened);
  carried.onConnecting(() => socket.destroy());
}
