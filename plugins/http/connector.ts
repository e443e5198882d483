import { isIP, type OnReadOpts, connect as openSocket, type Socket } from 'node:net';
import { type ConnectionOptions, connect as openTls } from 'node:tls';
import { createAbortFailure, createTransportFailure } from '../shared/failures.js';
import { READ_BUFFER_BYTES, ReadMemory } from './read-memory.js';

/**
 * Long enough for two retransmissions of a SYN (1 s and 3 s, RFC 6298), and shorter than the default
 * timeout of a module (5 s), so that the failure is `unavailable` and not `timeout`.
 */
const CONNECT_TIMEOUT_MS = 4_000;

/** undici's default: detects a peer that disappeared behind a NAT. */
const TCP_KEEP_ALIVE_DELAY_MS = 60_000;

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
export type ConnectCallback = (
  ...result: [error: null, socket: Socket] | [error: Error, socket: null]
) => void;

export interface Connector {
  /** Opens a new connection and resolves DNS again; the returned socket is still connecting. */
  open(opened: ConnectCallback): Socket;
  /** Connects (including the TLS handshake) and closes. @throws ProviderFailure */
  probe(signal: AbortSignal): Promise<void>;
  /** Whether no connection is open or being opened. */
  readonly isUnused: boolean;
  /** Closes every connection, including those that are still connecting. */
  close(): void;
}

/**
 * Replaces undici's connector, which resumes TLS sessions and so skips `checkServerIdentity` with the pins,
 * and whose connecting sockets cannot be closed with the pool.
 */
export function createConnector(address: Address): Connector {
  const sockets = new Set<Socket>();

  const open = (opened: ConnectCallback): Socket => {
    const socket = dial(address);
    sockets.add(socket);
    let timer: NodeJS.Timeout | null = setTimeout(
      () => socket.destroy(createCodedError('ETIMEDOUT', 'connection timed out', address)),
      CONNECT_TIMEOUT_MS,
    );
    const settle: ConnectCallback = (...result) => {
      if (timer === null) return;
      clearTimeout(timer);
      timer = null;
      opened(...result);
    };
    socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_DELAY_MS);
    socket.once(address.kind === 'tls' ? 'secureConnect' : 'connect', () => settle(null, socket));
    socket.on('error', (error) => {
      settle(error, null);
      // Node keeps the connection after an alert of TLS, such as for a missing client certificate.
      // undici would then report the end that follows.
      if (isTlsError(error)) socket.destroy(error);
    });
    socket.on('close', () => {
      sockets.delete(socket);
      settle(createCodedError('ECONNRESET', 'closed while connecting', address), null);
    });
    return socket;
  };

  return {
    get isUnused() {
      return sockets.size === 0;
    },
    open,
    probe: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(createAbortFailure(signal.reason, 0, 'connecting'));
        const cancel = () => {
          reject(createAbortFailure(signal.reason, 0, 'connecting'));
          socket.destroy();
        };
        const socket = open((...[error]) => {
          signal.removeEventListener('abort', cancel);
          if (error !== null) return reject(createTransportFailure(error, 'connecting'));
          resolve();
          socket.destroy();
        });
        signal.addEventListener('abort', cancel);
      }),
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function dial(address: Address): Socket {
  const memory = new ReadMemory();
  const socket: Socket = connect(address, {
    highWaterMark: READ_BUFFER_BYTES,
    onread: {
      buffer: () => memory.next,
      callback: (length, buffer) => socket.push(memory.take(length, buffer)),
    },
  });
  memory.attach(socket);
  return socket;
}

function connect(
  address: Address,
  common: { readonly highWaterMark: number; readonly onread: OnReadOpts },
): Socket {
  if (address.kind === 'unix') return openSocket({ ...common, path: address.path });
  const { host, port } = address;
  if (address.kind === 'tcp') return openSocket({ ...common, host, port });
  // An IP address is not a server name (RFC 6066, 3); Node then verifies the address.
  const servername = address.options.servername ?? (isIP(host) === 0 ? host : undefined);
  return openTls({ ...common, ...address.options, host, port, ...(servername && { servername }) });
}

function isTlsError(error: Error): boolean {
  return String(Reflect.get(error, 'code')).startsWith('ERR_SSL_');
}

/** Creates an error like those of Node's sockets. */
function createCodedError(code: string, message: string, address: Address): Error {
  const place =
    address.kind === 'unix'
      ? { address: address.path }
      : { address: address.host, port: address.port };
  return Object.assign(new Error(message), { code, ...place });
}
