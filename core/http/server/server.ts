import http, { type RequestListener, type Server } from 'node:http';
import https from 'node:https';
import net, { type Socket } from 'node:net';
import type { HostConfig } from '../../config/settings.js';
import type { TlsPair } from '../tls/key-pair.js';
import { closeWithdrawnClients, type ReloadedPair } from '../tls/open-tls.js';
import { HandshakeAwareRequest } from './handshake.js';
import { listen } from './listen.js';
import { answerConnect, answerParserError, type RejectionObserver } from './parser-errors.js';
import { serializeRequests } from './pipelining.js';
import { trackUnusedConnections } from './unused-connections.js';
import { answerUpgrade } from './upgrades.js';

type ServerLimits = Pick<
  HostConfig,
  | 'headTimeoutMs'
  | 'requestTimeoutMs'
  | 'idleTimeoutMs'
  | 'maxConnections'
  | 'maxRequestsPerConnection'
>;

interface ConnectionCounts {
  readonly open: number;
  /** The number of connections closed because of the limit. */
  readonly dropped: number;
  /** The number of TLS handshakes that failed or took too long. */
  readonly failedHandshakes: number;
}

/** Sends the last event of each stream. */
type EndStreams = () => Promise<void>;

interface HostServer {
  readonly counts: ConnectionCounts;
  /** @throws the error of `server.listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL. */
  listen(host: string, port: number): Promise<string>;
  /** Serves without listening. @returns takes a connection that another process has accepted */
  join(): (connection: Socket) => void;
  /**
   * Closes idle connections, and resolves when all others have ended. Connections left after
   * `timeoutMs` are destroyed, once streams of events have sent their last event.
   */
  drain(timeoutMs: number, endStreams: EndStreams): Promise<void>;
  /**
   * Drains, but keeps idle connections open until their next response: closing one could lose a
   * request that its client is sending.
   */
  handOver(timeoutMs: number, endStreams: EndStreams): Promise<void>;
  /** Destroys every connection, including those in their handshake. */
  close(): Promise<void>;
}

// The maximum delay of a timeout. With Node's default of 30 s, the 10 s for a head would be 40 s.
const TIMEOUT_CHECK_INTERVAL_MS = 1000;
export const MAX_HEAD_BYTES = 16 * 1024;

/** Creates a server whose errors are always Problems, even where Node would respond itself. */
export function createServer(
  listener: RequestListener,
  limits: ServerLimits,
  tls: ReloadedPair | null,
  onRejected: RejectionObserver,
): HostServer {
  const server = tls === null ? createPlain(limits) : createSecure(limits, tls);
  // Node drops headers above a count silently, which would bypass every check of headers. The
  // request chain limits them instead.
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;
  const serialized = serializeRequests(listener, limits.maxRequestsPerConnection);
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, serialized);
  }
  server.on('clientError', (error, socket) => answerParserError(error, socket, onRejected));
  server.on('connect', (request, socket) => answerConnect(request, socket, onRejected));
  server.on('upgrade', (request, socket, head) => answerUpgrade(request, socket, head, serialized));
  const open = trackConnections(server);
  const closeUnused = trackUnusedConnections(server);
  const destroyConnections = () => {
    for (const socket of open) socket.destroy();
  };
  const whenEnded = (timeoutMs: number, endStreams: EndStreams) =>
    whenClosed(open, timeoutMs, () => endStreams().then(destroyConnections));
  const scheme = tls === null ? 'http' : 'https';
  return {
    counts: countConnections(server, open),
    listen: (host, port) => listen(server, scheme, host, port),
    join: () => {
      // From this event on, Node checks the timeouts of connections.
      server.emit('listening');
      return (connection) => {
        if (open.size >= limits.maxConnections) {
          connection.destroy();
          server.emit('drop');
          return;
        }
        // What the server would set for the connections that it accepts itself.
        connection.setNoDelay(true);
        connection.allowHalfOpen = true;
        server.emit('connection', connection);
      };
    },
    drain: (timeoutMs, endStreams) => {
      server.close();
      server.closeIdleConnections();
      closeUnused();
      return whenEnded(timeoutMs, endStreams);
    },
    handOver: (timeoutMs, endStreams) => {
      // `http.Server.close` would close idle connections too.
      net.Server.prototype.close.call(server);
      return whenEnded(timeoutMs, endStreams);
    },
    close: async () => {
      destroyConnections();
      server.close();
    },
  };
}

function createOptions(limits: ServerLimits): http.ServerOptions {
  return {
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    keepAliveTimeout: limits.idleTimeoutMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Node would answer a request without a host header with an empty 400.
    requireHostHeader: false,
    insecureHTTPParser: false,
    IncomingMessage: HandshakeAwareRequest,
    noDelay: true,
  };
}

function createPlain(limits: ServerLimits): Server {
  return http.createServer(createOptions(limits));
}

function createSecure(limits: ServerLimits, tls: ReloadedPair): Server {
  const server = https.createServer({
    ...createOptions(limits),
    ...createContextOptions(tls.current),
    handshakeTimeout: limits.headTimeoutMs,
    ALPNProtocols: ['http/1.1'],
    requestCert: tls.current.ca !== null,
    // A client without a certificate may have a token; an invalid certificate is rejected later.
    rejectUnauthorized: false,
  });
  const onClientCaChange = closeWithdrawnClients(server, tls);
  tls.onChange = (pair, previous) => {
    server.setSecureContext(createContextOptions(pair));
    if (!isSameClientCa(pair, previous)) onClientCaChange();
  };
  // Node's own listener would answer a failed handshake in plain HTTP.
  server.removeAllListeners('tlsClientError');
  return server;
}

function isSameClientCa(pair: TlsPair, other: TlsPair): boolean {
  if (pair.ca === null || other.ca === null) return pair.ca === other.ca;
  return pair.ca.equals(other.ca);
}

/**
 * Checks client certificates against the configured authorities only, never against those of the
 * system.
 */
function createContextOptions({ cert, key, ca }: TlsPair) {
  return { cert, key, minVersion: 'TLSv1.2' as const, ...(ca !== null && { ca }) };
}

function trackConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  return open;
}

function countConnections(server: Server, open: ReadonlySet<Socket>): ConnectionCounts {
  const counts = {
    get open() {
      return open.size;
    },
    dropped: 0,
    failedHandshakes: 0,
  };
  server.on('drop', () => {
    counts.dropped += 1;
  });
  server.on('tlsClientError', (_error, socket: Socket) => {
    counts.failedHandshakes += 1;
    socket.destroy();
  });
  return counts;
}

/** Resolves when all connections have closed; those left after `timeoutMs` are cut off. */
async function whenClosed(
  open: ReadonlySet<Socket>,
  timeoutMs: number,
  cutOff: () => void,
): Promise<void> {
  const cut = setTimeout(cutOff, timeoutMs);
  for (const socket of open) await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(cut);
}
