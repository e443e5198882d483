import { isIP, type OnReadOpts, connect as openSocket, type Socket } from 'node:net';
import { type ConnectionOptions, connect as openTls } from 'node:tls';
import { createAbortFailure, createTransportFailure } from '../shared/failures.js';

/**
 * Two retransmissions of a SYN (1 s and 3 s, RFC 6298) have had their chance, and it ends before a
 * module's default time-out (5 s), so that ops read `unavailable` and not `timeout`.
 */
const CONNECT_TIMEOUT_MS = 4_000;

/** undici's own default: finds a peer that vanished without a word behind a NAT. */
const TCP_KEEP_ALIVE_DELAY_MS = 60_000;

/** As undici's own connector: a body of some size then takes fewer turns of the loop. */
const READ_BUFFER_BYTES = 65_536;

/**
 * What all sockets are read into, one after the other: Node hands over what has come before it reads on, and
 * what has come is copied. By itself it makes a buffer of this size for each read: 5 % of the CPU time of a small call.
 */
const readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);

export type Address =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'tls';
      readonly host: string;
      readonly port: number;
      readonly options: ConnectionOptions;
    };

/** Called once. */
export type Opened = (
  ...result: [error: null, socket: Socket] | [error: Error, socket: null]
) => void;

export interface Connector {
  /** Makes a new connection and resolves DNS anew; the socket that is answered is still in the making. */
  open(opened: Opened): Socket;
  /** Connects (with TLS: shakes hands) and hangs up. @throws ProviderFailure */
  probe(signal: AbortSignal): Promise<void>;
  /** Ends every connection that was made here, also those that are still being made. */
  close(): void;
}

/**
 * undici's connector is not used because it keeps TLS sessions: a resumed one skips
 * `checkServerIdentity`, hence the pins, and a socket in the making cannot be closed with its pool.
 */
export function createConnector(address: Address): Connector {
  const sockets = new Set<Socket>();

  const open = (opened: Opened): Socket => {
    const socket = dial(address);
    sockets.add(socket);
    const timer = setTimeout(
      () => socket.destroy(codedError('ETIMEDOUT', 'no connection in time')),
      CONNECT_TIMEOUT_MS,
    );
    let waiting = true;
    const answer: Opened = (...result) => {
      clearTimeout(timer);
      if (!waiting) return;
      waiting = false;
      opened(...result);
    };
    socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_DELAY_MS);
    socket.once(address.kind === 'tls' ? 'secureConnect' : 'connect', () => answer(null, socket));
    socket.on('error', (error) => answer(error, null));
    socket.once('close', () => {
      sockets.delete(socket);
      answer(codedError('ECONNRESET', 'closed before it was open'), null);
    });
    return socket;
  };

  return {
    open,
    probe: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(createAbortFailure(signal.reason));
        const hangUp = () => {
          reject(createAbortFailure(signal.reason));
          socket.destroy();
        };
        const socket = open((...[error]) => {
          signal.removeEventListener('abort', hangUp);
          if (error !== null) return reject(createTransportFailure(error, false, 0));
          resolve();
          socket.destroy();
        });
        signal.addEventListener('abort', hangUp);
      }),
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function dial(address: Address): Socket {
  const socket: Socket = connect(address, {
    highWaterMark: READ_BUFFER_BYTES,
    onread: {
      buffer: readBuffer,
      callback: (length) => socket.push(Buffer.from(readBuffer.subarray(0, length))),
    },
  });
  return socket;
}

function connect(
  address: Address,
  common: { readonly highWaterMark: number; readonly onread: OnReadOpts },
): Socket {
  if (address.kind === 'unix') return openSocket({ ...common, path: address.path });
  const { host, port } = address;
  if (address.kind === 'tcp') return openSocket({ ...common, host, port });
  // An IP address is no server name (RFC 6066, 3); it is then verified as the address that it is.
  const servername = address.options.servername ?? (isIP(host) === 0 ? host : undefined);
  return openTls({ ...common, ...address.options, host, port, ...(servername && { servername }) });
}

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
