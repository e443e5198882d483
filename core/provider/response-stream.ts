import {
  type AbortListener,
  type BodyStream,
  isProviderFailure,
  ProviderFailure,
} from '../contract/index.js';
import { describeFailure } from '../lib/failure-detail.js';
import { BodyPace, type PaceLimits, type Side } from './body-pace.js';
import type { Deadline } from './deadline.js';

interface ResponseStreamOptions {
  /** What the adapter returned: third-party code. */
  readonly source: BodyStream;
  /** Its abort ends the stream. */
  readonly deadline: Deadline;
  readonly status: number;
  /** A longer body is cut there. Bytes. */
  readonly maxBytes: number;
  /** What the head announces; `null` for nothing. Bytes. */
  readonly announced: number | null;
  readonly limits: PaceLimits;
  /** Whether it may be a stream of events, which can be open for hours. Default false. */
  readonly isEndless?: boolean;
  /** Counts bytes that are held: of all parts that were read. */
  readonly hold: (bytes: number) => void;
}

type EndListener = (failure: ProviderFailure | null) => void;

/** A response's body that arrives while it is read. Every one ends, and is ended once: whole, failed or closed. */
export class ResponseStream implements AbortListener {
  readonly isEvents = false;
  readonly heldBytes = 0;
  /** Its failure is thrown. */
  readonly isCut = false;
  /** Bytes that were read. */
  bytes = 0;
  readonly isHeadFirst = true;
  /** Called with each part before it is handed on. @throws ProviderFailure for one that must not be. */
  onChunk: ((chunk: Uint8Array) => void) | null = null;
  /** Called after the last part. @throws ProviderFailure for a body that is not valid. */
  onLast: (() => void) | null = null;
  /** What `read` throws for a failure. */
  toError: (failure: ProviderFailure) => Error = (failure) => failure;
  readonly #options: ResponseStreamOptions;
  readonly #iterator: AsyncIterator<Uint8Array>;
  /** Begins with the first read: a request that still flows has bounds of its own. */
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

  /** The call was aborted, perhaps while the client reads nothing. */
  handleEvent(): void {
    this.#fail(this.#translate(this.#options.deadline.reason));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether it is no call any more once its head is there. */
  get isEndless(): boolean {
    return this.#isEndless;
  }

  /** It is no stream of events after all, so that it has the limits of a body. Before the first read. */
  becomeBody(maxBytes: number, limits: PaceLimits): void {
    this.#isEndless = false;
    this.#maxBytes = maxBytes;
    this.#limits = limits;
  }

  /** Parts that were read are read again, in this order. */
  unread(parts: readonly Uint8Array[]): void {
    this.#unread.push(...parts);
  }

  /** @param listener called once, at the end: with why the body is not whole */
  onEnd(listener: EndListener): void {
    this.#listeners.push(listener);
  }

  /**
   * The next part; `null` at the end of a whole body.
   * @throws what `toError` makes of a failure.
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

  /** Counts what is held of it. Its abort ends the stream where that is too much. */
  hold(bytes: number): void {
    this.#options.hold(bytes);
  }

  /** Nobody reads on: the client has gone, or the response is not used. */
  close(): void {
    this.#fail(new ProviderFailure('cancelled', 'the response is not read any more'));
  }

  /** Bytes have no place for it. */
  writeProblem(): null {
    return null;
  }

  /** @throws ProviderFailure for a part that must not be handed on. */
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

  /** @throws ProviderFailure for a body that is not whole. */
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
    // Both release what the adapter holds: one that ignores its signal, and one that ignores the end of reading.
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

  /** The failure has the status that had come, which shows breakers that the endpoint answers. */
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
