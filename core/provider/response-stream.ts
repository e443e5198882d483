import { openFlow } from '../contract/body-flow.js';
import {
  type AbortListener,
  type BodyFlow,
  type BodySink,
  type BodyStream,
  isProviderFailure,
  ProviderFailure,
} from '../contract/index.js';
import { describeFailure } from '../lib/failure-detail.js';
import { BodyPace, type PaceLimits, type Side } from './body-pace.js';
import type { Deadline } from './deadline.js';
import { type RejectedCall, withStatus } from './rejected-call.js';

interface ResponseStreamOptions {
  /** The source of the adapter, which is third-party code. */
  readonly source: BodyStream;
  /** Its abort ends the stream. */
  readonly deadline: Deadline;
  readonly status: number;
  /** A longer body is truncated there. Bytes. */
  readonly maxBytes: number;
  /** The length in the head; `null` for none. Bytes. */
  readonly announced: number | null;
  readonly limits: PaceLimits;
  /** Whether it may be a stream of events, which can be open for hours. Default false. */
  readonly isEndless?: boolean;
  /** Counts the held bytes of all parts that were read. */
  readonly hold: (bytes: number) => void;
}

type EndListener = (failure: ProviderFailure | null) => void;

/**
 * A response's body that is passed on while it arrives. Each ends exactly once: complete, failed or
 * closed.
 */
export class ResponseStream implements AbortListener, BodySink {
  readonly isEvents = false;
  onHold = null;
  /** Its failure reaches the reader. */
  readonly isCut = false;
  /** The number of received bytes. */
  bytes = 0;
  readonly isHeadFirst = true;
  /** Called with each part before it is passed on. @throws ProviderFailure for an invalid part. */
  onChunk: ((chunk: Uint8Array) => void) | null = null;
  /** Called after the last part. @throws ProviderFailure for an invalid body. */
  onLast: (() => void) | null = null;
  /** Converts a failure to the error that the reader gets. */
  toError: (failure: ProviderFailure) => Error = (failure) => failure;
  readonly #options: ResponseStreamOptions;
  readonly #flow: BodyFlow;
  /** Begins with the first part that is awaited: a request that is still streamed has its own limits. */
  #pace: BodyPace | null = null;
  #reader: BodySink | null = null;
  readonly #listeners: EndListener[] = [];
  readonly #unread: Uint8Array[] = [];
  #limits: PaceLimits;
  #maxBytes: number;
  #isEndless: boolean;
  #isOpen = true;
  /** Whether the adapter may pass a part, or the end. */
  #isAsked = false;
  #failure: ProviderFailure | null = null;

  constructor(options: ResponseStreamOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#maxBytes = options.maxBytes;
    this.#isEndless = options.isEndless === true;
    this.#flow = openFlow(options.source, this);
    options.deadline.addEventListener('abort', this);
    // It may have failed already, when there was nothing to stop.
    if (!this.#isOpen) this.#stop();
  }

  /** Called when the call was aborted, possibly while the client reads nothing. */
  handleEvent(): void {
    this.#fail(this.#translate(this.#options.deadline.reason));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const { length } of this.#unread) bytes += length;
    return bytes;
  }

  /** Whether the call ends with the head of the stream. */
  get isEndless(): boolean {
    return this.#isEndless;
  }

  /**
   * Applies the limits of a body, because it is not a stream of events. Call it before the first
   * read.
   */
  becomeBody(maxBytes: number, limits: PaceLimits): void {
    this.#isEndless = false;
    this.#maxBytes = maxBytes;
    this.#limits = limits;
  }

  /** Returns parts to the stream, which are read again in this order. */
  unread(parts: readonly Uint8Array[]): void {
    this.#unread.push(...parts);
  }

  /** @param listener called once, at the end, with the reason of an incomplete body */
  onEnd(listener: EndListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Passes the body to a reader, at its speed. A second reader continues where the first one has
   * paused. The reader gets the result of `toError` for a failure.
   */
  pipe(reader: BodySink): void {
    this.#reader = reader;
    if (this.#failure !== null) reader.fail(this.toError(this.#failure));
    else this.resume();
  }

  /** Continues after a part that the reader did not want more after. */
  resume(): void {
    while (this.#isOpen) {
      const part = this.#unread.shift();
      if (part === undefined) break;
      this.#pace?.wait('client');
      if (!this.#pass(part)) return;
    }
    if (!this.#isOpen) return;
    this.#pace ??= new BodyPace('provider', this.#limits, (side, problem) => {
      this.#fail(createStall(side, problem));
    });
    this.#pace.wait('provider');
    this.#isAsked = true;
    try {
      this.#flow.resume();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Called with a part that the reader does not need any more. */
  reuse(part: Uint8Array): void {
    try {
      if (this.#isOpen) this.#flow.reuse?.(part);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Receives a part from the adapter. */
  write(part: Uint8Array): boolean {
    if (!this.#isOpen) return false;
    try {
      this.#assertAsked();
      this.#receive(part);
    } catch (error) {
      this.#fail(this.#translate(error));
      return false;
    }
    this.#isAsked = false;
    const isTaken = this.#isOpen && this.#pass(part);
    if (isTaken) this.#isAsked = true;
    this.#pace?.wait(isTaken ? 'provider' : 'client');
    return isTaken;
  }

  /** The adapter has received the complete body. */
  end(): void {
    if (!this.#isOpen) return;
    try {
      this.#assertAsked();
      this.#finish();
    } catch (error) {
      this.#fail(this.#translate(error));
      return;
    }
    this.#reader?.end();
  }

  /** The adapter has failed. After an abort, its reason is the failure. */
  fail(error: unknown): void {
    const { aborted, reason } = this.#options.deadline;
    this.#fail(this.#translate(aborted ? reason : error));
  }

  /** @returns whether the reader wants more */
  #pass(part: Uint8Array): boolean {
    try {
      this.onChunk?.(part);
      return this.#reader?.write(part) === true && this.#isOpen;
    } catch (error) {
      this.#fail(this.#translate(error));
      return false;
    }
  }

  /** Counts its held bytes. An exceeded limit ends the stream. */
  hold(bytes: number): void {
    this.#options.hold(bytes);
  }

  /**
   * Called when no further part is read: the client has disconnected, or the response is not used.
   */
  close(): void {
    if (!this.#isOpen) return;
    this.#fail(new ProviderFailure('cancelled', 'the response is not read any more'));
  }

  /** Ends the body at once, because its bytes exceed a memory budget. @returns its error */
  reject(rejection: RejectedCall): Error {
    const failure = withStatus(rejection, this.#options.status);
    this.#fail(failure);
    return this.toError(failure);
  }

  /** Returns `null`, because bytes have no place for a Problem. */
  writeProblem(): null {
    return null;
  }

  /** @throws ProviderFailure for a source that ignores a pause, which would fill the memory. */
  #assertAsked(): void {
    if (!this.#isAsked) throw this.#createUnusable('was pushed before it was asked for');
  }

  /** @throws ProviderFailure for a part that must not be passed on. */
  #receive(chunk: unknown): void {
    const { announced } = this.#options;
    const maxBytes = this.#maxBytes;
    if (!(chunk instanceof Uint8Array)) throw this.#createUnusable('is not bytes');
    const bytes = this.bytes + chunk.length;
    if (bytes > maxBytes) throw this.#createUnusable(`is over ${maxBytes} bytes`);
    if (announced !== null && bytes > announced)
      throw this.#createUnusable('is longer than announced');
    this.bytes = bytes;
    this.#pace?.pass(chunk.length);
  }

  /** @throws ProviderFailure for an incomplete body. */
  #finish(): void {
    const { announced, status } = this.#options;
    if (announced !== null && this.bytes < announced) {
      const message = 'the body of the response is shorter than announced';
      throw new ProviderFailure('protocol', message, { status });
    }
    this.onLast?.();
    this.#end(null);
  }

  #fail(failure: ProviderFailure): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#failure = failure;
    // Both release resources of the adapter, which may ignore its signal or the end of reading.
    this.#options.deadline.abort(failure);
    this.#stop();
    this.#end(failure);
    this.#reader?.fail(this.toError(failure));
  }

  #stop(): void {
    try {
      this.#flow.stop();
    } catch {
      // The adapter has no further use.
    }
  }

  #end(failure: ProviderFailure | null): void {
    this.#isOpen = false;
    this.#pace?.end();
    this.#options.deadline.removeEventListener('abort', this);
    for (const listener of this.#listeners.splice(0)) listener(failure);
  }

  /** Adds the received status to the failure, which shows breakers that the endpoint responds. */
  #translate(error: unknown): ProviderFailure {
    const { status } = this.#options;
    if (!isProviderFailure(error)) {
      const detail = describeFailure(error);
      return new ProviderFailure('protocol', 'the adapter failed', {
        cause: error,
        status,
        detail,
      });
    }
    if (error.status !== null) return error;
    const { failure, message, phase, detail } = error;
    return new ProviderFailure(failure, message, { cause: error, status, phase, detail });
  }

  #createUnusable(problem: string): ProviderFailure {
    const { status } = this.#options;
    const message = `the body of the response ${problem}`;
    return new ProviderFailure('protocol', message, { status, phase: 'answered' });
  }
}

function createStall(side: Side, problem: string): ProviderFailure {
  return side === 'provider'
    ? new ProviderFailure('timeout', `the body of the response stalled: ${problem}`)
    : new ProviderFailure('cancelled', `the client reads too slowly: ${problem}`);
}
