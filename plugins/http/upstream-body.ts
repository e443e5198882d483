import { iterateFlow } from '../../core/contract/body-flow.js';
import type { BodyFlow, BodySink, BodyStream } from '../../core/contract/index.js';

/**
 * The number of bytes that are read before the reader begins. Less than one read of a socket.
 */
const READ_AHEAD_BYTES = 32_768;
/** Smaller parts of one read are joined: each write costs as much as the copy of this many bytes. */
const SMALL_BYTES = 4_096;

export interface BodyConnection {
  /** Reads no further, until `release`. */
  hold(): void;
  release(): void;
  /** Records a part that was passed on, and whether `giveBack` may follow. */
  lend(part: Uint8Array, mayReturn: boolean): void;
  /** Called when nobody reads the part any more. */
  giveBack(part: Uint8Array): void;
  /** Closes it, because the rest of the body is not read. */
  stop(): void;
}

/** The body of a response that is passed on while it arrives. */
export class UpstreamBody implements BodyStream, BodyFlow {
  readonly #connection: BodyConnection;
  /** What has arrived, and is not passed on yet. */
  #parts: Uint8Array[];
  #bytes = 0;
  #sink: BodySink | null = null;
  #isFlowing = false;
  /** Whether small parts are passed on when the read has ended. */
  #isCollecting = false;
  #end: { readonly failure: Error | null } | null = null;
  #isClosed = false;

  constructor(connection: BodyConnection, parts: readonly Uint8Array[]) {
    this.#connection = connection;
    this.#parts = [...parts];
    for (const { length } of parts) this.#bytes += length;
  }

  pushTo(sink: BodySink): BodyFlow {
    if (this.#sink !== null) throw new Error('a body is read once');
    this.#sink = sink;
    return this;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return iterateFlow(this);
  }

  resume(): void {
    if (this.#isClosed || this.#isFlowing) return;
    this.#isFlowing = true;
    this.#flush();
    if (this.#isFlowing && this.#isArriving) this.#connection.release();
  }

  stop(): void {
    this.#isClosed = true;
    this.#parts = [];
    this.#connection.stop();
  }

  reuse(part: Uint8Array): void {
    if (this.#isArriving) this.#connection.giveBack(part);
  }

  /** Adds a part that has arrived. */
  add(part: Uint8Array): void {
    if (this.#isClosed) return;
    const isDirect = this.#isFlowing && this.#parts.length === 0 && part.length >= SMALL_BYTES;
    this.#connection.lend(part, isDirect);
    if (isDirect) {
      this.#write(part);
      return;
    }
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#isFlowing) this.#collect();
    else if (this.#sink !== null || this.#bytes > READ_AHEAD_BYTES) this.#connection.hold();
  }

  /** Ends the body, behind the parts that have arrived. */
  finish(failure: Error | null): void {
    this.#end = { failure };
    if (this.#isFlowing) this.#flush();
    else if (failure !== null && this.#parts.length === 0) this.#close();
  }

  /** Whether the connection is still its own: the next response must not be held. */
  get #isArriving(): boolean {
    return !this.#isClosed && this.#end === null;
  }

  #collect(): void {
    if (this.#isCollecting) return;
    this.#isCollecting = true;
    queueMicrotask(() => {
      this.#isCollecting = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#isFlowing && this.#parts.length > 0) this.#write(this.#take());
    if (this.#isFlowing && this.#end !== null) this.#close();
  }

  #take(): Uint8Array {
    const parts = this.#parts;
    if (parts.length > 1 && this.#bytes >= parts.length * SMALL_BYTES) {
      const first = parts.shift() as Uint8Array;
      this.#bytes -= first.length;
      return first;
    }
    this.#parts = [];
    this.#bytes = 0;
    return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  }

  #write(part: Uint8Array): void {
    this.#isFlowing = this.#sink?.write(part) === true;
    if (!this.#isFlowing && this.#isArriving) this.#connection.hold();
  }

  #close(): void {
    const sink = this.#sink;
    if (this.#isClosed || sink === null) return;
    this.#isClosed = true;
    const failure = this.#end?.failure ?? null;
    if (failure === null) sink.end();
    else sink.fail(failure);
  }
}
