import {
  type AbortListener,
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
 * A response's body that is read while it arrives. Each ends exactly once: complete, failed or
 * closed.
 */
export class ResponseStream implements AbortListener {
  readonly isEvents = false;
  onHold = null;
  /** Its failure is thrown. */
  readonly isCut = false;
  /** The number of read bytes. */
  bytes = 0;
  readonly isHeadFirst = true;
  /** Called with each part before it is passed on. @throws ProviderFailure for an invalid part. */
  onChunk: ((chunk: Uint8Array) => void) | null = null;
  /** Called after the last part. @throws ProviderFailure for an invalid body. */
  onLast: (() => void) | null = null;
  /** Converts a failure to the error of `read`. */
  toError: (failure: ProviderFailure) => Error = (failure) => failure;
  readonly #options: ResponseStreamOptions;
  readonly #iterator: AsyncIterator<Uint8Array>;
  /** Begins with the first read: a request that is still streamed has separate limits. */
  #pace: BodyPace | null = null;
  readonly #listeners: EndListener[] = [];
  readonly #unread: Uint8Array[] = [];
  #limits: PaceLimits;
  #maxBytes: number;
  #isEndless: boolean;
  #isOpen = true;
  #failure: ProviderFailure | null = null;

  constructor(options: ResponseStreamOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#maxBytes = options.maxBytes;
    this.#isEndless = options.isEndless === true;
    this.#iterator = options.source[Symbol.asyncIterator]();
    options.deadline.addEventListener('abort', this);
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
   * Returns the next part; `null` at the end of a complete body.
   * @throws the result of `toError` for a failure.
   */
  async read(): Promise<Uint8Array | null> {
    if (this.#failure !== null) throw this.toError(this.#failure);
    const unread = this.#unread.shift();
    if (unread !== undefined) return this.#readAgain(unread);
    if (!this.#isOpen) return null;
    this.#pace ??= new BodyPace('provider', this.#limits, (side, problem) => {
      this.#fail(createStall(side, problem));
    });
    this.#pace.wait('provider');
    try {
      const { done, value } = await this.#options.deadline.race(this.#iterator.next());
      if (done === true) this.#finish();
      else this.#receive(value);
      return done === true ? null : value;
    } catch (error) {
      this.#fail(this.#translate(error));
      throw this.toError(this.#failure ?? this.#translate(error));
    }
  }

  #readAgain(part: Uint8Array): Uint8Array {
    try {
      this.onChunk?.(part);
      return part;
    } catch (error) {
      const failure = this.#translate(error);
      this.#fail(failure);
      throw this.toError(failure);
    }
  }

  /** Grants the client another pause, because the host itself did not read. */
  extendPause(): void {
    if (this.#isOpen) this.#pace?.wait('client');
  }

  /** Counts its held bytes. An exceeded limit ends the stream. */
  hold(bytes: number): void {
    this.#options.hold(bytes);
  }

  /**
   * Called when no further part is read: the client has disconnected, or the response is not used.
   */
  close(): void {
    this.#fail(new ProviderFailure('cancelled', 'the response is not read any more'));
  }

  /** Ends the body at once, because its bytes exceed a memory budget. @returns its failure */
  fail(rejection: RejectedCall): Error {
    const failure = withStatus(rejection, this.#options.status);
    this.#fail(failure);
    return this.toError(failure);
  }

  /** Returns `null`, because bytes have no place for a Problem. */
  writeProblem(): null {
    return null;
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
    this.onChunk?.(chunk);
    this.#pace?.wait('client');
  }

  /** @throws ProviderFailure for an incomplete body. */
  #finish(): void {
    const { announced, status } = this.#options;
    if (this.#failure !== null) throw this.#failure;
    if (announced !== null && this.bytes < announced) {
      const message = 'the body of the response is shorter than announced';
      throw new ProviderFailure('protocol', message, { status });
    }
    this.onLast?.();
    this.#end(null);
  }

  #fail(failure: ProviderFailure): void {
    if (!this.#isOpen) return;
    this.#failure = failure;
    // Both release resources of the adapter, which may ignore its signal or the end of reading.
    this.#options.deadline.abort(failure);
    void Promise.resolve(this.#iterator.return?.()).catch(() => {});
    this.#end(failure);
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
