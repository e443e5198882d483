import { Client, type Dispatcher } from 'undici';
import type { Connector, Opened } from './connector.js';

/** The part of a request that its client needs. */
export interface CarriedRequest {
  /** Whether it has a response or was aborted. */
  readonly isOver: boolean;
  /** Called when a connection is opened for it; `cancel` stops that. */
  onConnecting(cancel: () => void): void;
}

export interface CarriedOptions extends Dispatcher.DispatchOptions {
  readonly carried: CarriedRequest;
}

/**
 * A client for a pool that opens no connection for an aborted request. undici alone connects first and
 * checks for an abort afterwards, which loads a provider when it is slowest. With pipelining 1 a client
 * carries one request at a time.
 */
export function createCarrier(
  origin: URL,
  connector: Connector,
  options: Client.Options,
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
    // Deferred, because undici calls this inside its own loop. The error clears the client's queue.
    queueMicrotask(() => opened(new Error('the request is over'), null));
    return;
  }
  const socket = connector.open(opened);
  carried.onConnecting(() => socket.destroy());
}
