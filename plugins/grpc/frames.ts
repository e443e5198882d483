import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
import { BodyPieces, ProviderFailure } from '../../core/contract/index.js';

const PREFIX_BYTES = 5;
const inflate = promisify(unzip);
/** `unzip` detects which of them a message has. */
const ENCODINGS: ReadonlySet<string> = new Set(['deflate', 'gzip']);
/** The largest limit that zlib accepts. */
const MAX_ZLIB_BYTES = 2 ** 32 - 1;
/** The longest message after decompression where there is no limit, as in a stream of events. */
const MAX_INFLATED_BYTES = 16 * 1_048_576;

/** A message with its prefix of five bytes, uncompressed. */
export function writeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** A message as it arrived. */
export interface Frame {
  readonly isCompressed: boolean;
  readonly bytes: Buffer;
}

/** Splits the data of a call into messages. */
export class FrameReader {
  readonly #maxBytes: number;
  #pieces = new BodyPieces();
  /** Bytes of the next message with its prefix; 0 while they are not known. */
  #frameBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the data so far ends between two messages. */
  get isComplete(): boolean {
    return this.#pieces.length === 0;
  }

  /**
   * The messages that the data completes.
   * @throws ProviderFailure `protocol` for a message above the limit, before it has arrived.
   */
  read(chunk: Buffer): Frame[] {
    this.#pieces.add(chunk);
    const frames: Frame[] = [];
    while (this.#pieces.length >= Math.max(PREFIX_BYTES, this.#frameBytes)) {
      const all = this.#pieces.join();
      if (this.#frameBytes === 0) this.#frameBytes = this.#readLength(all);
      const end = this.#frameBytes;
      const isWhole = all.length >= end;
      if (isWhole) {
        frames.push({ isCompressed: all[0] === 1, bytes: all.subarray(PREFIX_BYTES, end) });
        this.#frameBytes = 0;
      }
      this.#pieces = new BodyPieces();
      const rest = isWhole ? all.subarray(end) : all;
      if (rest.length > 0) this.#pieces.add(rest);
    }
    return frames;
  }

  #readLength(head: Buffer): number {
    if (head.readUInt8(0) > 1) throw createMalformed('has a message with an unknown flag');
    const length = head.readUInt32BE(1);
    if (length > this.#maxBytes) throw createTooLarge(this.#maxBytes);
    return PREFIX_BYTES + length;
  }
}

/**
 * The bytes of a message.
 * @throws ProviderFailure `protocol` for one that cannot be inflated, or to more than the limit.
 */
export async function readMessage(
  { isCompressed, bytes }: Frame,
  encoding: string,
  maxBytes: number,
): Promise<Buffer> {
  if (!isCompressed) return bytes;
  if (!ENCODINGS.has(encoding)) throw createMalformed('is compressed otherwise than it may be');
  const maxOutputLength = maxBytes > MAX_ZLIB_BYTES ? MAX_INFLATED_BYTES : maxBytes;
  try {
    return await inflate(bytes, { maxOutputLength });
  } catch (cause) {
    const isLarge = cause instanceof Error && Reflect.get(cause, 'code') === 'ERR_BUFFER_TOO_LARGE';
    throw isLarge ? createTooLarge(maxOutputLength) : createMalformed('cannot be inflated');
  }
}

export function createTooLarge(maxBytes: number): ProviderFailure {
  return new ProviderFailure('protocol', `response body is over ${maxBytes} bytes`, {
    status: 200,
    phase: 'answered',
  });
}

export function createMalformed(problem: string): ProviderFailure {
  return new ProviderFailure('protocol', `response ${problem}`, { status: 200, phase: 'answered' });
}
