import { BodyPieces } from '../contract/body-pieces.js';

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\u{feff}');

/** Where units of a stream end: a blank line ends an event (SSE), each line one of JSON (NDJSON). */
export type UnitEnd = 'blank-line' | 'line';

/**
 * Splits a stream into its units without changing a byte: an event with the blank line behind it, or a line with its
 * end. Nothing is decoded.
 */
export class EventScanner {
  readonly #maxBytes: number;
  readonly #finder: (chunk: Uint8Array) => number[];
  /** The start of a unit whose end has still to come. */
  #pieces = new BodyPieces();
  #length = 0;
  #isTooLong = false;

  /** @param maxBytes of a unit */
  constructor(end: UnitEnd, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#finder = end === 'line' ? findLines : createEventFinder();
  }

  /** Bytes of the unit that has still to end. */
  get heldBytes(): number {
    return this.#length;
  }

  /** Whether a unit was longer than allowed: nothing behind it is read. */
  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  /** The units that this part of the stream ends, in order. */
  push(chunk: Buffer): Buffer[] {
    const units: Buffer[] = [];
    let start = 0;
    for (const end of this.#finder(chunk)) {
      if (!this.#add(chunk.subarray(start, end))) return units;
      units.push(this.rest());
      start = end;
    }
    // A copy: a few bytes must not keep the whole part in memory.
    if (start < chunk.length) this.#add(Buffer.from(chunk.subarray(start)));
    return units;
  }

  /** The same for a stream that is only measured: nothing is kept. */
  measure(chunk: Buffer): void {
    let start = 0;
    for (const end of this.#finder(chunk)) {
      if (!this.#grow(end - start)) return;
      this.#length = 0;
      start = end;
    }
    this.#grow(chunk.length - start);
  }

  /** What has begun; empty for nothing. It is not kept any longer. */
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

/** A stream may begin with a mark, which belongs to no event. */
export function withoutMark(start: Buffer): Buffer {
  return start.subarray(0, 3).equals(BYTE_ORDER_MARK) ? start.subarray(3) : start;
}

/** The name is that of the last `event:` line, but readers differ: each of them counts. */
const OWN_EVENT = /(?:^|[\r\n])(?:\xef\xbb\xbf)*event: ?modgate\./;
export const OWN_PREFIX = 'modgate.';

/** Whether an event has a name of the host's own. */
export function hasOwnName(event: Buffer): boolean {
  return event.includes(OWN_PREFIX) && OWN_EVENT.test(event.toString('latin1'));
}

function findLines(chunk: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) ends.push(at + 1);
  return ends;
}

/** Lines end with LF, CR or both; a line that is empty ends an event. */
function createEventFinder(): (chunk: Uint8Array) => number[] {
  let isEmpty = true;
  let isAfterCr = false;
  return (chunk) => {
    const ends: number[] = [];
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === LF && isAfterCr) {
        // The second half of a line end; it belongs to the event before, where that is still at hand.
        if (ends.at(-1) === at) ends[ends.length - 1] = at + 1;
        isAfterCr = false;
        continue;
      }
      isAfterCr = byte === CR;
      const isLineEnd = byte === LF || byte === CR;
      if (isLineEnd && isEmpty) ends.push(at + 1);
      isEmpty = isLineEnd;
    }
    return ends;
  };
}
