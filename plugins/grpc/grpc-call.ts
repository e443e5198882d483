import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
  sensitiveHeaders,
} from 'node:http2';
import {
  type Cancellation,
  type FailurePhase,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure, createTransportFailure } from '../shared/transport.js';
import { type Connection, type EndpointConnections, MAX_HEADER_BYTES } from './connections.js';
import { createMalformed, type Frame, FrameReader, readMessage, writeFrame } from './frames.js';
import type { GrpcStatus } from './statuses.js';

const { NGHTTP2_FLAG_END_STREAM, NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM, NGHTTP2_NO_ERROR } =
  constants;

export interface GrpcRequest {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The names of the metadata that are credentials. */
  readonly sensitive: readonly string[];
  /** The message; called once there is a connection. */
  readonly message: () => Uint8Array | Promise<Uint8Array>;
  readonly signal: Cancellation;
  readonly maxResponseBytes: number;
  readonly onReceived: (bytes: number) => void;
}

/** The metadata and status with which a call ended. */
interface CallEnd {
  readonly status: GrpcStatus;
  readonly trailers: IncomingHttpHeaders;
}

/** The largest texts of a status. */
const MAX_MESSAGE_CHARACTERS = 4_000;
/** Messages that wait for their reader before the stream is paused. */
const MAX_AHEAD = 16;
/** The codes of gRPC, UNAUTHENTICATED and RESOURCE_EXHAUSTED, for HTTP statuses of proxies. */
const PROXY_CODES: Readonly<Record<number, number>> = { 401: 16, 429: 8 };
const MS_PER_SECOND = 1000;
/** HTTP statuses of proxies that have no server. */
const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Sends a call on a connection with a free stream.
 * @throws ProviderFailure without a connection.
 */
export async function startCall(
  connections: EndpointConnections,
  request: GrpcRequest,
): Promise<GrpcCall> {
  const { signal } = request;
  if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
  // Without a turn of the microtask queue where there is nothing to wait for.
  const acquired = connections.acquire(signal);
  const connection = acquired instanceof Promise ? await acquired : acquired;
  try {
    const given = request.message();
    const message = given instanceof Promise ? await given : given;
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    return new GrpcCall(connection, request, message, () => connections.release(connection));
  } catch (error) {
    connections.release(connection);
    throw error;
  }
}

/** One call: a message was sent, and messages arrive as fast as they are read. */
export class GrpcCall {
  /** The metadata before the messages; empty until {@link head}. */
  headers: IncomingHttpHeaders = {};
  /** Set once the call is over. */
  end: CallEnd | null = null;
  readonly #connection: Connection;
  readonly #request: GrpcRequest;
  readonly #stream: ClientHttp2Stream;
  readonly #release: () => void;
  readonly #frames: FrameReader;
  readonly #startedAt = performance.now();
  readonly #ready: Frame[] = [];
  #trailers: IncomingHttpHeaders | null = null;
  #hasHead = false;
  /** Whether the head is all that the server has sent. */
  #isTrailersOnly = false;
  #isOver = false;
  #error: unknown = null;
  #failure: ProviderFailure | null = null;
  #wake: (() => void) | null = null;

  /** @throws ProviderFailure if the connection cannot take the call. */
  constructor(
    connection: Connection,
    request: GrpcRequest,
    message: Uint8Array,
    release: () => void,
  ) {
    this.#connection = connection;
    this.#request = request;
    this.#release = release;
    this.#frames = new FrameReader(request.maxResponseBytes);
    try {
      this.#stream = connection.session.request(createHeaders(request));
    } catch (error) {
      throw createTransportFailure(error, 'connecting');
    }
    this.#listen();
    request.signal.addEventListener('abort', this);
    this.#stream.end(writeFrame(message));
  }

  /** Called when the signal is aborted. */
  handleEvent(): void {
    const { signal } = this.#request;
    const failure = createAbortFailure(signal.reason, this.#hasHead ? 200 : 0, this.#phase);
    if (failure.failure === 'timeout') this.#connection.expire(performance.now() - this.#startedAt);
    this.fail(failure);
  }

  /**
   * Resolves with the metadata of the response.
   * @throws ProviderFailure
   */
  async head(): Promise<void> {
    while (!this.#hasHead && !this.#isOver) await this.#sleep();
    if (this.#failure !== null) throw this.#failure;
  }

  /**
   * The next message; `null` once the server has sent a status.
   * @throws ProviderFailure
   */
  async next(): Promise<Buffer | null> {
    while (this.#ready.length === 0 && !this.#isOver) {
      this.#stream.resume();
      await this.#sleep();
    }
    if (this.#failure !== null) throw this.#failure;
    const frame = this.#ready.shift();
    if (frame === undefined) return null;
    const { maxResponseBytes, onReceived } = this.#request;
    try {
      const encoding = String(this.headers['grpc-encoding'] ?? '');
      const message = await readMessage(frame, encoding, maxResponseBytes);
      if (frame.isCompressed) onReceived(message.length);
      return message;
    } catch (error) {
      this.fail(error as ProviderFailure);
      throw error;
    }
  }

  /** Whether the server did not process it, since it closed the connection with GOAWAY. */
  get isLeftOut(): boolean {
    const { session } = this.#connection;
    return session.closed && !this.#hasHead && this.#stream.rstCode === NGHTTP2_REFUSED_STREAM;
  }

  /** Ends the call for the caller. */
  cancel(): void {
    this.fail(new ProviderFailure('cancelled', 'the response is not needed'));
  }

  /** Ends the call with a failure, unless it is over. */
  fail(failure: ProviderFailure): void {
    if (this.#isOver) return;
    this.#failure = failure;
    this.#stop();
  }

  get #phase(): FailurePhase {
    return this.#stream.writableFinished || this.#hasHead ? 'responding' : 'sending';
  }

  #listen(): void {
    const stream = this.#stream;
    stream.on('response', (headers, flags) => {
      this.#isTrailersOnly = (flags & NGHTTP2_FLAG_END_STREAM) !== 0;
      this.#receiveHead(headers);
    });
    stream.on('trailers', (trailers) => {
      this.#trailers = trailers;
      if (this.#isTooLarge(trailers)) this.fail(createMalformed(TOO_LARGE));
    });
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', (error) => {
      this.#error = error;
    });
    stream.on('end', () => {
      // The server may have answered without reading the message.
      if (!stream.writableFinished) stream.close(NGHTTP2_NO_ERROR);
    });
    stream.on('close', () => this.#close());
  }

  #receiveHead(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    this.headers = headers;
    this.#hasHead = true;
    const isLarge = this.#isTooLarge(headers);
    const failure = isLarge ? createMalformed(TOO_LARGE) : findHeadFailure(headers);
    const code = PROXY_CODES[failure?.status ?? 0];
    if (code !== undefined) {
      this.#endAs({ code, message: '', details: null, retryMs: readRetryAfterMs(headers) });
    } else if (failure !== null) this.fail(failure);
    else this.#notify();
  }

  /** Ends the call with a status, whatever else arrives. */
  #endAs(status: GrpcStatus): void {
    this.end = { status, trailers: {} };
    this.#stop();
  }

  #isTooLarge(headers: IncomingHttpHeaders): boolean {
    const length = lengthOf(headers);
    this.#connection.touch(length);
    return length > MAX_HEADER_BYTES;
  }

  #receive(chunk: Buffer): void {
    this.#connection.touch(chunk.length);
    this.#request.onReceived(chunk.length);
    if (this.#isOver) return;
    try {
      this.#ready.push(...this.#frames.read(chunk));
    } catch (error) {
      this.fail(error as ProviderFailure);
      return;
    }
    if (this.#ready.length >= MAX_AHEAD) this.#stream.pause();
    if (this.#ready.length > 0) this.#notify();
  }

  #close(): void {
    if (this.#isOver) return;
    const trailers = this.#isTrailersOnly ? this.headers : (this.#trailers ?? {});
    const status = readStatus(trailers);
    if (status === null) this.#failure = this.#createCutShort();
    else if (status.code === 0 && !this.#frames.isComplete) {
      this.#failure = createMalformed('ends within a message');
    } else this.end = { status, trailers };
    this.#finish();
  }

  /** The failure of a call that ended without a status. */
  #createCutShort(): ProviderFailure {
    const { rstCode } = this.#stream;
    if (this.#hasHead) return createMalformed(`is cut short (reset code ${rstCode})`);
    // Neither REFUSED_STREAM nor a stream above the last one of GOAWAY was processed.
    if (rstCode === NGHTTP2_REFUSED_STREAM) {
      return new ProviderFailure('unavailable', 'stream refused', { phase: 'connecting' });
    }
    const error = this.#error ?? new Error(`stream closed (reset code ${rstCode})`);
    return createTransportFailure(error, this.#phase);
  }

  #stop(): void {
    this.#stream.close(NGHTTP2_CANCEL);
    this.#connection.abandon();
    this.#finish();
  }

  #finish(): void {
    this.#isOver = true;
    this.#request.signal.removeEventListener('abort', this);
    this.#release();
    this.#notify();
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = null;
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

const OWN_HEADERS = {
  'content-type': 'application/grpc',
  te: 'trailers',
  'grpc-accept-encoding': 'identity,deflate,gzip',
  'user-agent': 'modgate',
} as const;

function createHeaders({ path, metadata, sensitive }: GrpcRequest): OutgoingHttpHeaders {
  // Ten times as fast as a literal that spreads the metadata.
  const headers = Object.assign({}, metadata, OWN_HEADERS, { ':method': 'POST', ':path': path });
  return sensitive.length === 0 ? headers : { ...headers, [sensitiveHeaders]: [...sensitive] };
}

const TOO_LARGE = `has more than ${MAX_HEADER_BYTES} bytes of metadata`;

function lengthOf(headers: IncomingHttpHeaders): number {
  let length = 0;
  for (const name in headers) length += name.length + String(headers[name]).length;
  return length;
}

const CONTENT_TYPE = /^application\/grpc(?:$|[+;])/i;

/** The failure for a head that no gRPC server sends; `null` for a good one. */
function findHeadFailure(
  headers: IncomingHttpHeaders & IncomingHttpStatusHeader,
): ProviderFailure | null {
  if (headers['grpc-status'] !== undefined) return null;
  const status = headers[':status'] ?? 0;
  if (status !== 200) {
    const failure = UNAVAILABLE.has(status) ? 'unavailable' : 'status';
    const message = `HTTP status ${status} without grpc-status`;
    const retryAfterMs = failure === 'unavailable' ? readRetryAfterMs(headers) : null;
    return new ProviderFailure(failure, message, {
      ...{ status, phase: 'answered' },
      ...(retryAfterMs !== null && { retryAfterMs }),
    });
  }
  return CONTENT_TYPE.test(headers['content-type'] ?? '')
    ? null
    : createMalformed('is not of type application/grpc');
}

/** Returns `null` without a status. */
function readStatus(trailers: IncomingHttpHeaders): GrpcStatus | null {
  const code = trailers['grpc-status'];
  if (typeof code !== 'string' || !/^\d{1,3}$/.test(code)) return null;
  const details = trailers['grpc-status-details-bin'];
  return {
    code: Number(code),
    message: decodeMessage(String(trailers['grpc-message'] ?? '')),
    details: typeof details === 'string' ? Buffer.from(details, 'base64') : null,
    retryMs: readWait(trailers['grpc-retry-pushback-ms']),
  };
}

function readRetryAfterMs(headers: IncomingHttpHeaders): number | null {
  const seconds = readWait(headers['retry-after']);
  return seconds === null ? null : MS_PER_SECOND * seconds;
}

/** At least 1, also for 0. Returns `null` for any other text, such as a date or a negative number. */
function readWait(text: unknown): number | null {
  return typeof text === 'string' && /^\d{1,9}$/.test(text) ? Math.max(1, Number(text)) : null;
}

function decodeMessage(text: string): string {
  if (text === '') return text;
  const bytes = Buffer.from(text, 'latin1').toString('latin1');
  const decoded = bytes.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (escaped) =>
    Buffer.from(escaped.replaceAll('%', ''), 'hex').toString(),
  );
  return decoded.slice(0, MAX_MESSAGE_CHARACTERS);
}
