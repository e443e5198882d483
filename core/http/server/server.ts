import http, { type RequestListener, type Server } from 'node:http';
import https from 'node:https';
import net, { type Socket } from 'node:net';
import type { HostConfig } from '../../config/settings.js';
import type { TlsPair } from '../tls/key-pair.js';
import type { ReloadedPair } from '../tls/open-tls.js';
import { closeWithdrawnClients } from '../tls/withdrawn-ca.js';
import { answerConnect, answerParserError, type RejectionObserver } from './parser-errors.js';
import { serializeRequests } from './pipelining.js';

export type ServerLimits = Pick<
  HostConfig,
  | 'headTimeoutMs'
  | 'requestTimeoutMs'
  | 'idleTimeoutMs'
  | 'maxConnections'
  | 'maxRequestsPerConnection'
>;

/** What of connections is counted. */
export interface ConnectionCounts {
  readonly open: number;
  /** Turned away, since there were as many as there may be. */
  readonly dropped: number;
  /** TLS handshakes that failed or took too long. */
  readonly failedHandshakes: number;
}

export interface HostServer {
  readonly server: Server;
  readonly counts: ConnectionCounts;
  /** Ends every connection, also one that is still shaking hands. */
  destroyConnections(): void;
}

// How late a time-out may be noticed; Node's default of 30 s would make the 10 s of a head mean 40.
const TIMEOUT_CHECK_INTERVAL_MS = 1000;
const MAX_HEAD_BYTES = 16 * 1024;

/** A server that answers nothing by itself: what Node would refuse is answered with a Problem. */
export function createServer(
  listener: RequestListener,
  limits: ServerLimits,
  tls: ReloadedPair | null,
  onRefused: RejectionObserver,
): HostServer {
  const server = tls === null ? createPlain(limits) : createSecure(limits, tls);
  // Above a count Node drops headers silently, which would slip past every rule on headers: they are
  // counted where a Problem can tell.
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;
  const inTurn = serializeRequests(listener, limits.maxRequestsPerConnection);
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, inTurn);
  server.on('clientError', (error, socket) => answerParserError(error, socket, onRefused));
  server.on('connect', (_request, socket) => answerConnect(socket, onRefused));
  return countConnections(server);
}

function describeLimits(limits: ServerLimits): http.ServerOptions {
  return {
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    keepAliveTimeout: limits.idleTimeoutMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Node would answer a request without host with an empty 400.
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
  };
}

function createPlain(limits: ServerLimits): Server {
  return http.createServer(describeLimits(limits));
}

function createSecure(limits: ServerLimits, tls: ReloadedPair): Server {
  const server = https.createServer({
    ...describeLimits(limits),
    ...describeContext(tls.current),
    handshakeTimeout: limits.headTimeoutMs,
    ALPNProtocols: ['http/1.1'],
    requestCert: tls.current.ca !== null,
    // A caller without a certificate may have a token; one with a bad certificate is refused later.
    rejectUnauthorized: false,
  });
  const onClientCaChange = closeWithdrawnClients(server, tls);
  tls.onChange = (pair, previous) => {
    server.setSecureContext(describeContext(pair));
    if (!isSameClientCa(pair, previous)) onClientCaChange();
  };
  // Node's own listener would answer a failed handshake in plain HTTP.
  server.removeAllListeners('tlsClientError');
  return server;
}

function isSameClientCa(one: TlsPair, other: TlsPair): boolean {
  if (one.ca === null || other.ca === null) return one.ca === other.ca;
  return one.ca.equals(other.ca);
}

/** The authorities of callers are those of the configuration, never those of the system. */
function describeContext({ cert, key, ca }: TlsPair) {
  return { cert, key, minVersion: 'TLSv1.2' as const, ...(ca !== null && { ca }) };
}

function countConnections(server: Server): HostServer {
  const open = new Set<Socket>();
  const counts = { dropped: 0, failedHandshakes: 0 };
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('drop', () => {
    counts.dropped += 1;
  });
  server.on('tlsClientError', (_error, socket: Socket) => {
    counts.failedHandshakes += 1;
    socket.destroy();
  });
  return {
    server,
    counts: {
      get open() {
        return open.size;
      },
      get dropped() {
        return counts.dropped;
      },
      get failedHandshakes() {
        return counts.failedHandshakes;
      },
    },
    destroyConnections: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

/**
 * Takes no new connections and resolves when all have ended, each behind its next answer. Unlike
 * `http.Server.close`, leaves those open that are idle: who sends a request at that moment would lose it.
 * What is left after `timeoutMs` is cut.
 */
export function closeGently(
  { server, destroyConnections }: HostServer,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(destroyConnections, timeoutMs);
    net.Server.prototype.close.call(server, () => {
      clearTimeout(cut);
      resolve();
    });
  });
}
