import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import {
  BodyPieces,
  type BodyStream,
  type FailurePhase,
  isBodyStream,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure, createTransportFailure } from '../shared/failures.js';
import type { CallLimits } from '../shared/transport/send-request.js';
import type { AbortAwareOptions, ClientRequest } from './abort-aware-pool.js';
import type { HeldReads } from './held-reads.js';
import { RequestBody } from './request-body.js';
import type { RequestWrites } from './request-writes.js';
import { type BodyConnection, UpstreamBody } from './upstream-body.js';

interface UpstreamRequestOptions {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | BodyStream | null;
  /** The protocol for which a connection is opened. Default: none. */
  readonly upgrade?: string | undefined;
}

/** From this status on, a response ends the request, of which nothing more is sent. */
const MIN_ERROR_STATUS = 400;
const EVENT_STREAM = /^text\/event-stream\b/i;
/** The last transfer coding delimits the body (RFC 9112, 6.3). */
const CHUNKED = /(?:^|[\s,])chunked$/i;
/** Codings that the host never accepts (`te`) and does not decode: the bytes would not be the body. */
const COMPRESSION = /\b(?:gzip|deflate|compress)\b/i;

/**
 * Sends one request and collects its response, or streams it once it exceeds the buffer. The
 * request is sent once: undici repeats nothing when pipelining is 1, and the host decides about
 * retries.
 * @throws ProviderFailure only (as a rejection).
 */
export function sendUpstream(
  dispatcher: Dispatcher,
  { method, path, headers, body, upgrade }: UpstreamRequestOptions,
  limits: CallLimits,
): Promise<Outcome> {
  if (limits.signal.aborted) {
    return Promise.reject(createAbortFailure(limits.signal.reason, 0, 'connecting'));
  }
  return new Promise((resolve, reject) => {
    const handler = new UpstreamRequest(method, limits, resolve, reject);
    const sent = body !== null && isBodyStream(body) ? handler.follow(body) : body;
    const options: AbortAwareOptions = {
      method,
      path,
      headers,
      body: sent,
      upgrade: upgrade ?? null,
      tracked: handler,
    };
    dispatcher.dispatch(options, handler);
  });
}

/**
 * The handler that undici calls, and the listener of the signal: one object per call without
 * closures. It must never throw: undici would emit that as an `error` event without a listener.
 */
class UpstreamRequest implements Dispatcher.DispatchHandler, ClientRequest, BodyConnection {
  readonly #method: string;
  readonly #limits: CallLimits;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #reject: (failure: ProviderFailure) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #cancelConnecting: (() => void) | null = null;
  #reads: HeldReads | null = null;
  #writes: RequestWrites | null = null;
  /** Whether the whole request was given to the connection. */
  #isSent = true;
  #isOver = false;
  #stream: UpstreamBody | null = null;
  #hasResponse = false;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  readonly #pieces = new BodyPieces();
  #length = 0;
  /** The number of bytes that the counter knows. */
  #counted = 0;
  /** Whether the headers announce the end of the body. */
  #isDelimited = true;
  /** Whether a body, or one with a type but without bytes, ends with its connection. */
  #mayLackBytes = false;

  constructor(
    method: string,
    limits: CallLimits,
    resolve: (outcome: Outcome) => void,
    reject: (failure: ProviderFailure) => void,
  ) {
    this.#method = method;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    limits.signal.addEventListener('abort', this);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the body for undici, whose request is sent with its last part. */
  follow(body: BodyStream): RequestBody {
    this.#isSent = false;
    return new RequestBody(body, {
      isStopped: () => this.#status >= MIN_ERROR_STATUS,
      onEnd: () => {
        this.#isSent = true;
      },
    });
  }

  get #phase(): FailurePhase {
    if (this.#controller === null) return 'connecting';
    if (this.#hasResponse) return 'responding';
    return this.#isSent && !this.#isWriting ? 'responding' : 'sending';
  }

  get #isWriting(): boolean {
    return this.#writes?.isPending === true;
  }

  /** Called when the signal is aborted, possibly during the connection setup. */
  handleEvent(): void {
    const { reason } = this.#limits.signal;
    const failure = createAbortFailure(reason, this.#status, this.#phase);
    this.#fail(failure);
    if (this.#controller !== null) this.#controller.abort(failure);
    else this.#cancelConnecting?.();
  }

  onAssigned(reads: HeldReads, writes: RequestWrites): void {
    this.#reads = reads;
    this.#writes = writes;
  }

  onConnecting(cancel: () => void): void {
    this.#cancelConnecting = cancel;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#cancelConnecting = null;
    this.#reads?.expectResponse();
    // Aborted at the moment the connection was ready: the request must not be sent.
    if (this.#isOver) controller.abort(createAbortFailure(this.#limits.signal.reason));
  }

  /** The first byte of a response has arrived. */
  onResponseStarted(): void {
    this.#hasResponse = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status >= 100 && status < 200) return;
    this.#status = status;
    if (status < 100 || status > 599) {
      const message = 'status is not between 100 and 599';
      controller.abort(new ProviderFailure('protocol', message, { phase: 'answered' }));
      return;
    }
    this.#headers = joinRepeated(headers);
    const { 'content-length': length, 'transfer-encoding': encoding = '' } = this.#headers;
    this.#isDelimited = length !== undefined || CHUNKED.test(encoding);
    // None has a body (RFC 9110, 6.4.1), but a 304 may carry a length, which undici would expect.
    if (status === 204 || status === 304 || this.#method === 'HEAD') {
      this.#succeed();
      return;
    }
    if (COMPRESSION.test(encoding)) {
      controller.abort(this.#createProtocolFailure('is compressed by its transfer-encoding'));
      return;
    }
    this.#mayLackBytes = !this.#isDelimited && this.#headers['content-type'] !== undefined;
    const { holdBytes } = this.#limits;
    this.#announce(controller, Number(length ?? 0));
    if (holdBytes === undefined || length === '0') return;
    if (holdBytes === 0 || Number(length ?? 0) > holdBytes) this.#openStream(controller);
  }

  /** undici transfers the connection. */
  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    connection: Duplex,
  ): void {
    if (!this.#end()) connection.destroy();
    else this.#resolve({ status, headers: joinRepeated(headers), body: null, connection });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#stream === null) this.#countUpTo(this.#length);
    if (this.#isOver) return;
    if (this.#length > this.#limits.maxResponseBytes) controller.abort(this.#createTooLarge());
    else if (this.#isUnusable) controller.abort(this.#createUndelimited());
    else if (this.#length > chunk.length || this.#isNeeded()) this.#receive(controller, chunk);
    else this.#leaveBody(controller);
    this.#mayLackBytes = !this.#isDelimited;
  }

  onResponseEnd(): void {
    // Otherwise the next request would follow the rest of this one. undici handles streamed bodies.
    if (this.#isSent && this.#isWriting) this.#writes?.close();
    // undici takes a reset for the end of such a body. The message of an error may suffice.
    const isReset = !this.#isDelimited && this.#reads?.hasEnded !== true;
    if (this.#status < 300 && isReset) this.#fail(this.#createProtocolFailure('was reset'));
    else this.#succeed();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(createTransportFailure(error, this.#phase, this.#hasResponse, this.#status));
  }

  /**
   * Rejects a body that exceeds the budget without reading it: a partial read would waste memory.
   */
  #announce(controller: Dispatcher.DispatchController, length: number): void {
    const { maxResponseBytes, holdBytes = maxResponseBytes } = this.#limits;
    if (length > maxResponseBytes) controller.abort(this.#createTooLarge());
    else if (holdBytes > 0 && EVENT_STREAM.test(this.#headers['content-type'] ?? '')) {
      // An error status suffices without its body.
      if (this.#status >= 400) this.#succeed();
      controller.abort(this.#createEndless());
    } else if (length > 0 && !this.#isNeeded()) this.#leaveBody(controller);
    else this.#countUpTo(Math.min(length, holdBytes));
  }

  /** Whether the body of a success can never show its own end. */
  get #isUnusable(): boolean {
    if (this.#isDelimited || this.#status >= 300) return false;
    const { 'content-type': type, 'transfer-encoding': coding = 'identity' } = this.#headers;
    return type === undefined || coding.toLowerCase() !== 'identity';
  }

  #isNeeded(): boolean {
    return this.#limits.counter?.needsBody?.(this.#status, this.#headers) !== false;
  }

  /** Responds without the body, whose end could take forever. */
  #leaveBody(controller: Dispatcher.DispatchController): void {
    this.#succeed();
    controller.abort(new ProviderFailure('cancelled', 'the body is not needed'));
  }

  #receive(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream === null) {
      this.#reads?.memory?.lend(chunk, false);
      this.#pieces.add(chunk);
      if (this.#length > (this.#limits.holdBytes ?? Number.POSITIVE_INFINITY)) {
        this.#openStream(controller);
      }
    } else this.#stream.add(chunk);
  }

  /** Passes the response on before it is complete. */
  #openStream(controller: Dispatcher.DispatchController): void {
    // The request may just have been aborted.
    if (this.#isOver) return;
    // Otherwise kept as long as the body: 1.5 KiB.
    controller.rawHeaders = null;
    const stream = new UpstreamBody(this, this.#pieces.list);
    this.#stream = stream;
    const outcome = { status: this.#status, headers: this.#headers, body: stream };
    this.#resolve(this.#mayLackBytes ? { ...outcome, isDelimited: false } : outcome);
  }

  hold(): void {
    this.#reads?.hold();
  }

  release(): void {
    this.#reads?.release();
  }

  lend(part: Uint8Array, mayReturn: boolean): void {
    this.#reads?.memory?.lend(part, mayReturn);
  }

  giveBack(part: Uint8Array): void {
    this.#reads?.memory?.giveBack(part);
  }

  stop(): void {
    if (this.#end()) this.#controller?.abort(createAbortFailure(null, this.#status));
  }

  #countUpTo(length: number): void {
    if (length <= this.#counted) return;
    this.#limits.counter?.countReceived?.(length - this.#counted);
    this.#counted = length;
  }

  #succeed(): void {
    if (!this.#end()) return;
    if (this.#stream !== null) {
      this.#stream.finish(null);
      return;
    }
    const { list } = this.#pieces;
    const body = list.length === 0 ? null : list;
    const outcome = { status: this.#status, headers: this.#headers, body };
    this.#resolve(this.#mayLackBytes ? { ...outcome, isDelimited: false } : outcome);
  }

  #fail(failure: ProviderFailure): void {
    if (!this.#end()) return;
    if (this.#stream === null) this.#reject(failure);
    else this.#stream.finish(failure);
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#reads?.release();
    this.#reads?.memory?.forget();
    this.#limits.signal.removeEventListener('abort', this);
    return true;
  }

  #createTooLarge(): ProviderFailure {
    return this.#createProtocolFailure(`body is over ${this.#limits.maxResponseBytes} bytes`);
  }

  /** Creates the failure for an endless body, whose end no call can await. */
  #createEndless(): ProviderFailure {
    const detail = 'content-type text/event-stream';
    const options = { status: this.#status, phase: 'answered', detail } as const;
    return new ProviderFailure('protocol', 'response is an event stream', options);
  }

  #createUndelimited(): ProviderFailure {
    return this.#createProtocolFailure('body has neither content-length nor chunked encoding');
  }

  #createProtocolFailure(problem: string): ProviderFailure {
    const options = { status: this.#status, phase: 'answered' } as const;
    return new ProviderFailure('protocol', `response ${problem}`, options);
  }
}

/** undici lower-cases the names and collects the values of a repeated header in an array. */
function joinRepeated(
  headers: Record<string, string | string[] | undefined>,
): Readonly<Record<string, string>> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.map(trimEnd).join(', ');
    else if (value !== undefined) headers[name] = trimEnd(value);
  }
  return headers as Readonly<Record<string, string>>;
}

/** White space after a value is not part of it (RFC 9110, 5.5); the parser removes only leading space. */
function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end -= 1;
  return end === value.length ? value : value.slice(0, end);
}
