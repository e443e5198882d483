import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { type Cancellation, ProviderFailure } from '../../core/contract/index.js';
import { createAbortFailure, createTransportFailure } from '../shared/transport.js';

/** The most connections of one worker to one endpoint. */
const MAX_CONNECTIONS = 16;
/** After this time new calls use a new connection, so that replicas behind a name get their share. */
const MAX_AGE_MS = 300_000;
/** The time for connection, TLS and the first settings together. */
const CONNECT_TIMEOUT_MS = 4_000;
/** How long a call waits for a stream where every connection is at its limit. */
const QUEUE_MS = 250;
const MAX_QUEUED = 1_024;
/** A ping is sent after this time without a frame while calls are open. */
const PING_AFTER_MS = 300_000;
const MAX_PING_AFTER_MS = 3_600_000;
const PING_TIMEOUT_MS = 20_000;
/** How long a connection without calls may take to close. */
const CLOSE_TIMEOUT_MS = 1_000;
/** A connection on which nothing arrives for longer than this, or half the time of a call, failed its call. */
const MAX_SILENCE_MS = 1_000;
/** How often a connection is looked at. */
const CHECK_MS = 500;
/** Bytes between two checks that belong to no call, besides those that wait in the windows of streams. */
const MAX_SURPLUS_BYTES = 1_048_576;
/** Headers and trailers of a response; a longer block ends its call. Bytes. */
export const MAX_HEADER_BYTES = 65_536;
/** A block above this does not arrive: its stream is reset, and looks like one that the server reset. Bytes. */
const MAX_BLOCK_BYTES = 131_072;
const MAX_HEADER_PAIRS = 1_000;
/** Bytes that a stream may send ahead of its reader. */
const STREAM_WINDOW_BYTES = 65_535;
/** Megabytes of one connection: all streams with full windows, and more. */
const SESSION_MEMORY = 128;

/** Where an endpoint is. */
interface GrpcAddress {
  /** Its name, http or https. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  /** `null` for a connection without TLS. */
  readonly tls: ConnectionOptions | null;
}

/** A connection that is ready for calls. */
export interface Connection {
  readonly session: ClientHttp2Session;
  /** Calls that have no end yet. */
  open: number;
  /** Called when a call has got these bytes of the server. */
  touch(bytes: number): void;
  /** Called when a call is canceled: no call gets what the server has sent of it. */
  abandon(): void;
  /** Called when a call has had all its time, in milliseconds. */
  expire(callMs: number): void;
}

interface Waiter {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (failure: ProviderFailure) => void;
}

/** The connections to one endpoint. A call gets a connection with a free stream. */
export class EndpointConnections {
  readonly #address: GrpcAddress;
  readonly #ready = new Set<LiveConnection>();
  readonly #closing = new Set<LiveConnection>();
  readonly #waiting = new Set<Waiter>();
  #connecting = 0;
  #pingAfterMs = PING_AFTER_MS;
  readonly #closed = new AbortController();
  #isClosed = false;

  constructor(address: GrpcAddress) {
    this.#address = address;
  }

  /**
   * A connection with a free stream; the caller calls {@link release} when its call is over.
   * @throws ProviderFailure in phase `connecting`, also `overloaded` where no stream becomes free.
   */
  acquire(signal: Cancellation): Connection | Promise<Connection> {
    const free = this.#findFree();
    if (free !== null) return this.#take(free);
    return this.#wait(signal);
  }

  release(connection: Connection): void {
    connection.open -= 1;
    const live = connection as LiveConnection;
    if (live.isSilent) this.#retire(live);
    const free = this.#findFree();
    const [next] = this.#waiting;
    if (free !== null && next !== undefined) next.resolve(free);
    for (const each of this.#closing) if (each.open === 0) this.#drop(each);
  }

  /**
   * Opens another connection and closes it: an open one may be lost without having noticed.
   * @throws ProviderFailure in phase `connecting`.
   */
  async probe(signal: Cancellation): Promise<void> {
    if (this.#isClosed) throw createClosed();
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    const controller = new AbortController();
    const abort = {
      handleEvent: () => controller.abort(createAbortFailure(signal.reason, 0, 'connecting')),
    };
    signal.addEventListener('abort', abort);
    try {
      (await openSession(this.#address, controller.signal)).session.destroy();
    } catch (error) {
      throw createTransportFailure(error, 'connecting');
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Whether there is no connection, and no call waits for one. */
  get isUnused(): boolean {
    const open = this.#ready.size + this.#closing.size + this.#connecting;
    return open + this.#waiting.size === 0;
  }

  /** Closes the connections once their calls have ended; a call that comes later opens another one. */
  retire(): void {
    for (const each of this.#ready) this.#retire(each);
  }

  close(): void {
    this.#isClosed = true;
    this.#closed.abort(createClosed());
    for (const each of [...this.#ready, ...this.#closing]) each.session.destroy();
    this.#failWaiting(createClosed());
  }

  #take(connection: LiveConnection): Connection {
    connection.open += 1;
    return connection;
  }

  #findFree(): LiveConnection | null {
    for (const each of this.#ready) {
      if (each.isOld) this.#retire(each);
      else if (each.open < each.maxOpen) return each;
    }
    return null;
  }

  async #wait(signal: Cancellation): Promise<Connection> {
    if (this.#isClosed) throw createClosed();
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    if (this.#waiting.size >= MAX_QUEUED) throw createOverloaded();
    const connection = await new Promise<Connection>((resolve, reject) => {
      const abort = {
        handleEvent: () => waiter.reject(createAbortFailure(signal.reason, 0, 'connecting')),
      };
      const end = () => {
        this.#waiting.delete(waiter);
        signal.removeEventListener('abort', abort);
        clearTimeout(timer);
      };
      const waiter: Waiter = {
        resolve: (connection) => {
          end();
          resolve(this.#take(connection as LiveConnection));
        },
        reject: (failure) => {
          end();
          reject(failure);
        },
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', abort);
      const isFull = this.#ready.size + this.#connecting >= MAX_CONNECTIONS;
      const waitMs = isFull ? QUEUE_MS : CONNECT_TIMEOUT_MS + QUEUE_MS;
      const timer = setTimeout(() => waiter.reject(createOverloaded()), waitMs);
      if (!isFull && this.#connecting === 0) void this.#connect();
    });
    return connection;
  }

  async #connect(): Promise<void> {
    this.#connecting += 1;
    try {
      const opened = await openSession(this.#address, this.#closed.signal);
      this.#connecting -= 1;
      if (this.#isClosed) opened.session.destroy();
      else this.#add(opened);
    } catch (error) {
      this.#connecting -= 1;
      this.#failWaiting(createTransportFailure(error, 'connecting'));
    }
  }

  #add(opened: Opened): void {
    const { session } = opened;
    const connection = new LiveConnection(opened, this.#pingAfterMs);
    this.#ready.add(connection);
    session.on('goaway', (code, _last, data) => {
      const isTooOften =
        code === constants.NGHTTP2_ENHANCE_YOUR_CALM && String(data) === 'too_many_pings';
      if (isTooOften) {
        this.#pingAfterMs = Math.min(connection.pingAfterMs * 2, MAX_PING_AFTER_MS);
      }
      this.#retire(connection);
    });
    session.on('close', () => {
      connection.end();
      this.#ready.delete(connection);
      this.#closing.delete(connection);
      if (this.#waiting.size > 0 && this.#connecting === 0 && !this.#isClosed) void this.#connect();
    });
    for (const waiter of this.#waiting) {
      if (connection.open >= connection.maxOpen) break;
      waiter.resolve(connection);
    }
    // A server that allows no stream gets no second chance.
    if (connection.maxOpen === 0) this.#failWaiting(createOverloaded());
    else if (this.#waiting.size > 0 && this.#ready.size < MAX_CONNECTIONS) void this.#connect();
  }

  /** Lets calls in flight finish. */
  #retire(connection: LiveConnection): void {
    if (!this.#ready.delete(connection)) return;
    this.#closing.add(connection);
    if (connection.open === 0) this.#drop(connection);
  }

  #drop(connection: LiveConnection): void {
    this.#closing.delete(connection);
    connection.close();
  }

  #failWaiting(failure: ProviderFailure): void {
    for (const waiter of [...this.#waiting]) waiter.reject(failure);
  }
}

interface Opened {
  readonly session: ClientHttp2Session;
  /** That of the session, which hides its counters. */
  readonly socket: Socket;
}

class LiveConnection implements Connection {
  readonly session: ClientHttp2Session;
  readonly pingAfterMs: number;
  open = 0;
  isSilent = false;
  readonly #socket: Socket;
  readonly #openedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #closeTimer: NodeJS.Timeout | undefined;
  #lastFrameAt = performance.now();
  #isPinging = false;
  /** Bytes that the socket had read at the last check. */
  #readBefore = 0;
  /** Bytes that calls have got since then. */
  #delivered = 0;
  /** Calls that were canceled since then, and in the time before: what was on its way comes later. */
  #abandoned = 0;
  #abandonedBefore = 0;

  constructor({ session, socket }: Opened, pingAfterMs: number) {
    this.session = session;
    this.#socket = socket;
    this.pingAfterMs = pingAfterMs;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  get maxOpen(): number {
    return this.session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY;
  }

  get isOld(): boolean {
    return performance.now() - this.#openedAt > MAX_AGE_MS;
  }

  touch(bytes: number): void {
    this.#lastFrameAt = performance.now();
    this.#delivered += bytes;
  }

  abandon(): void {
    this.#abandoned += 1;
  }

  /** The library reads on no more after some errors of the server, and says nothing. */
  expire(callMs: number): void {
    const silentMs = performance.now() - this.#lastFrameAt;
    this.isSilent ||= silentMs >= Math.min(MAX_SILENCE_MS, callMs / 2);
  }

  close(): void {
    this.session.close();
    this.#closeTimer = setTimeout(() => this.session.destroy(), CLOSE_TIMEOUT_MS).unref();
  }

  end(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#closeTimer);
  }

  #check(): void {
    if (this.session.destroyed) return;
    const { bytesRead } = this.#socket;
    const surplus = bytesRead - this.#readBefore - this.#delivered;
    this.#readBefore = bytesRead;
    this.#delivered = 0;
    const streams = this.open + this.#abandoned + this.#abandonedBefore;
    this.#abandonedBefore = this.#abandoned;
    this.#abandoned = 0;
    // Frames that no call gets, such as resets, may come without end, and the library reads on.
    if (surplus > MAX_SURPLUS_BYTES + streams * STREAM_WINDOW_BYTES) {
      this.session.destroy(new Error('flooded'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    } else if (this.open > 0 && performance.now() - this.#lastFrameAt >= this.pingAfterMs) {
      this.#ping();
    }
  }

  #ping(): void {
    if (this.#isPinging) return;
    this.#isPinging = true;
    const timer = setTimeout(() => this.session.destroy(), PING_TIMEOUT_MS);
    timer.unref();
    this.session.ping((error) => {
      clearTimeout(timer);
      this.#isPinging = false;
      if (error === null) this.touch(0);
    });
  }
}

/** Resolves once the server has sent its settings, so that it speaks HTTP/2 and its limits are known. */
async function openSession(address: GrpcAddress, signal: AbortSignal): Promise<Opened> {
  const socket = openSocket(address);
  const session = connect(address.origin, {
    createConnection: () => socket,
    maxSessionMemory: SESSION_MEMORY,
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    settings: {
      enablePush: false,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: MAX_BLOCK_BYTES,
    },
  });
  return new Promise((resolve, reject) => {
    const abort = () => fail(signal.reason);
    const fail = (error: Error) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      reject(error);
      session.destroy();
    };
    const failWith = (code: string) => fail(Object.assign(new Error(code), { code }));
    const timer = setTimeout(() => failWith('ETIMEDOUT'), CONNECT_TIMEOUT_MS);
    signal.addEventListener('abort', abort);
    session.on('error', fail);
    session.on('close', () => failWith('ECONNRESET'));
    // A session does not pass on what happens to its socket during the handshake.
    socket.on('error', fail);
    socket.on('close', () => failWith('ECONNRESET'));
    session.once('remoteSettings', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve({ session, socket });
    });
  });
}

function openSocket({ host, port, tls }: GrpcAddress): Socket {
  if (tls === null) return connectTcp({ host, port });
  return connectTls({ host, port, ...tls, ALPNProtocols: ['h2'] });
}

function createOverloaded(): ProviderFailure {
  const message = `no stream was free within ${QUEUE_MS} ms`;
  return new ProviderFailure('overloaded', message, { phase: 'connecting' });
}

function createClosed(): ProviderFailure {
  return new ProviderFailure('unavailable', 'module closed', { phase: 'connecting' });
}
