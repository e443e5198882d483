import type { Socket } from 'node:net';

/** The size of undici's connector: larger bodies take fewer turns of the event loop. */
export const READ_BUFFER_BYTES = 65_536;

/**
 * Sockets read into this buffer, and the data is copied before the next read. Node would otherwise
 * allocate a buffer of this size per read, which is 5 % of the CPU time of a small call.
 */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
/**
 * After a read of this size more is likely to follow: the next one has a buffer of its own, which
 * is not copied if it is filled as far.
 */
const LONG_READ_BYTES = 49_152;
/** The buffers of a response that wait for a read: one, as each read takes one. */
const MAX_SPARE = 1;

const memories = new WeakMap<Socket, ReadMemory>();

/** The memory of a connection; `null` for one with another reader. */
export function findReadMemory(socket: Socket): ReadMemory | null {
  return memories.get(socket) ?? null;
}

/** A buffer that was passed on without a copy. */
interface LentBuffer {
  readonly buffer: Buffer;
  /** Whether its bytes are read, so that no further part of it is passed on. */
  isParsed: boolean;
  /** The parts that have not come back. */
  parts: number;
  /** Whether some of its bytes never come back. */
  isKept: boolean;
}

/**
 * The buffers for the reads of one connection. Without reuse, V8 marks its whole heap once for each
 * 40 MiB of bodies. Only a later read of the same response reuses a buffer, so that no mistake can
 * show it to another caller.
 */
export class ReadMemory {
  /** The buffer of the next read; `null` for the shared one. */
  #own: Buffer | null = null;
  #spare: Buffer[] = [];
  /** Weak, because parts need not come back. */
  #lent: WeakMap<ArrayBufferLike, LentBuffer> | null = null;
  #parsing: LentBuffer | null = null;

  attach(socket: Socket): void {
    memories.set(socket, this);
  }

  /** The buffer of the next read. */
  get next(): Buffer {
    return this.#own ?? sharedBuffer;
  }

  /** Returns the bytes of a read. */
  take(length: number, buffer: Uint8Array): Buffer {
    const isLong = length >= LONG_READ_BYTES;
    const own = buffer === this.#own ? this.#own : null;
    if (own !== null && !isLong) this.#spareBuffer(own);
    this.#own = isLong ? (this.#spare.pop() ?? Buffer.allocUnsafeSlow(READ_BUFFER_BYTES)) : null;
    if (own === null || !isLong) return copyBytes(buffer.subarray(0, length));
    this.#lent ??= new WeakMap();
    this.#lent.set(own.buffer, { buffer: own, isParsed: false, parts: 0, isKept: false });
    return own.subarray(0, length);
  }

  /** Called before bytes of the connection are parsed. */
  beginParsing(bytes: Uint8Array): void {
    this.#parsing = this.#find(bytes);
  }

  /** Called when these bytes are parsed. */
  endParsing(): void {
    const lent = this.#parsing;
    if (lent === null) return;
    this.#parsing = null;
    lent.isParsed = true;
    this.#settle(lent);
  }

  /** Records a part of the body among the parsed bytes, and whether it may come back. */
  lend(part: Uint8Array, mayReturn: boolean): void {
    const lent = this.#find(part);
    if (lent === null) return;
    if (mayReturn && lent === this.#parsing) lent.parts += 1;
    else lent.isKept = true;
  }

  /** Takes a part back whose bytes nobody reads any more. */
  giveBack(part: Uint8Array): void {
    const lent = this.#find(part);
    if (lent === null) return;
    lent.parts -= 1;
    this.#settle(lent);
  }

  /** Forgets all buffers at the end of a response. */
  forget(): void {
    this.#own = null;
    if (this.#spare.length > 0) this.#spare = [];
    this.#lent = null;
    this.#parsing = null;
  }

  /** Most calls lend no buffer, and to read `buffer` takes time. */
  #find(bytes: Uint8Array): LentBuffer | null {
    return this.#lent === null ? null : (this.#lent.get(bytes.buffer) ?? null);
  }

  #settle(lent: LentBuffer): void {
    if (!lent.isParsed || lent.isKept || lent.parts !== 0) return;
    this.#lent?.delete(lent.buffer.buffer);
    this.#spareBuffer(lent.buffer);
  }

  #spareBuffer(buffer: Buffer): void {
    if (this.#spare.length < MAX_SPARE) this.#spare.push(buffer);
  }
}

/** Unlike `Buffer.from`, which took 10 % of the CPU time of a GET of 1 MiB. */
function copyBytes(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafe(bytes.length);
  copy.set(bytes);
  return copy;
}
