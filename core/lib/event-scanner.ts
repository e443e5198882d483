import { BodyPieces } from '../contract/body-pieces.js';

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\u{feff}');

/** The end of a unit of a stream: a blank line for an event (SSE), a line end for JSON (NDJSON). */
type UnitEnd = 'blank-line' | 'line';

/**
 * Splits a stream into its units without changing a byte: an event with its blank line, or a line
 * with its end. It decodes nothing.
 */
export class EventScanner {
  readonly #maxBytes: number;
  readonly #finder: (chunk: Uint8Array) => number[];
  /** The start of an incomplete unit. */
  #pieces = new BodyPieces();
  #length = 0;
  #isTooLong = false;

  /** @param maxBytes the maximum of a unit */
  constructor(end: UnitEnd, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#finder = end === 'line' ? findLines : createEventFinder();
  }

  /** The number of bytes of the incomplete unit. */
  get heldBytes(): number {
    return this.#length;
  }

  /** Whether a unit exceeded the maximum: later bytes are ignored. */
  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  /** Returns the units that this part of the stream completes, in order. */
  push(chunk: Buffer): Buffer[] {
    const units: Buffer[] = [];
    let start = 0;
    for (const end of this.#finder(chunk)) {
      if (!this.#add(chunk.subarray(start, end))) return units;
      units.push(this.rest());
      start = end;
    }
    // Copied, so that a few bytes do not keep the whole part in memory.
    if (start < chunk.length) this.#add(Buffer.from(chunk.subarray(start)));
    return units;
  }

  /** Scans a stream that is only measured, without keeping bytes. */
  measure(chunk: Buffer): void {
    let start = 0;
    for (const end of this.#finder(chunk)) {
      if (!this.#grow(end - start)) return;
      this.#length = 0;
      start = end;
    }
    this.#grow(chunk.length - start);
  }

  /** Returns and drops the incomplete unit; empty without one. */
  rest(): Buffer {
    const unit = this.#pieces.join();
    this.#pieces = new BodyPieces();
    this.#length = 0;
    return unit;
  }

  #add(piece: Buffer): boolean {
    if (!this.#grow(piece.length)) return false;
    this.#pieces.add(piece);
    return true;
  }

  #grow(bytes: number): boolean {
    this.#length += bytes;
    this.#isTooLong ||= this.#length > this.#maxBytes;
    return !this.#isTooLong;
  }
}

/** Removes a byte-order mark at the start of a stream, which belongs to no event. */
export function stripByteOrderMark(start: Buffer): Buffer {
  return start.subarray(0, 3).equals(BYTE_ORDER_MARK) ? start.subarray(3) : start;
}

/** The last `event:` line sets the name, but readers differ, so each line counts. */
const RESERVED_EVENT = /(?:^|[\r\n])(?:\xef\xbb\xbf)*event: ?modgate\./;
export const RESERVED_PREFIX = 'modgate.';

/** Whether an event has a name that is reserved for the host. */
export function hasReservedName(event: Buffer): boolean {
  return event.includes(RESERVED_PREFIX) && RESERVED_EVENT.test(event.toString('latin1'));
}

function findLines(chunk: Uint8Array): number[] {
  const ends: number[] = [];
  for (let lineEnd = chunk.indexOf(LF); lineEnd !== -1; lineEnd = chunk.indexOf(LF, lineEnd + 1))
    ends.push(lineEnd + 1);
  return ends;
}

/** Lines end with LF, CR or both; a line that is empty ends an event. */
function createEventFinder(): (chunk: Uint8Array) => number[] {
  let isEmpty = true;
  let isAfterCr = false;
  return (chunk) => {
    const ends: number[] = [];
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte === LF && isAfterCr) {
        // The second half of a line end belongs to the preceding event, if it is in the same chunk.
        if (ends.at(-1) === index) ends[ends.length - 1] = index + 1;
        isAfterCr = false;
        continue;
      }
      isAfterCr = byte === CR;
      const isLineEnd = byte === LF || byte === CR;
      if (isLineEnd && isEmpty) ends.push(index + 1);
      isEmpty = isLineEnd;
    }
    return ends;
  };
}
