const LF = 0x0a;
const CR = 0x0d;

/** The end of a unit of a stream: a blank line for an event (SSE), a line end for JSON (NDJSON). */
export type UnitEnd = 'blank-line' | 'line';

interface Scan {
  /** The number of units that end here. */
  readonly units: number;
  /** The offset after the last of them; 0 without one. */
  readonly end: number;
  /** The offset after the scanned bytes. */
  readonly next: number;
}

/**
 * Finds the ends of the units of a stream, wherever it is cut: an event ends with its blank line,
 * and JSON with its line. It decodes and keeps nothing.
 */
export class EventScanner {
  readonly #isLines: boolean;
  readonly #maxBytes: number;
  /** Bytes of the incomplete unit. */
  #length = 0;
  /** Whether the line has no byte yet. */
  #isEmpty = true;
  #isAfterCr = false;
  #isTooLong = false;

  /** @param maxBytes the maximum of a unit */
  constructor(end: UnitEnd, maxBytes = Number.POSITIVE_INFINITY) {
    this.#isLines = end === 'line';
    this.#maxBytes = maxBytes;
  }

  /** Whether a unit exceeded the maximum: do not continue. */
  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  /** Scans a part of the stream up to its end, or until `maxUnits` have ended. */
  scan(part: Uint8Array, maxUnits = Number.POSITIVE_INFINITY): Scan {
    const isLines = this.#isLines;
    const lineFeeds = new ByteFinder(part, LF);
    // Lines of events end with LF, CR or both.
    const returns = isLines ? null : new ByteFinder(part, CR);
    let isEmpty = this.#isEmpty;
    let isAfterCr = this.#isAfterCr;
    let units = 0;
    let end = 0;
    let next = 0;
    let start = -this.#length;
    while (next < part.length && units < maxUnits) {
      if (isAfterCr && part[next] === LF) {
        // The end of the last unit, which may have come without it, so it never counts.
        isAfterCr = false;
        next += 1;
        if (start !== next - 1) continue;
        end = next;
        start = next;
        continue;
      }
      const lineEnd = Math.min(lineFeeds.from(next), returns?.from(next) ?? part.length);
      isEmpty &&= lineEnd === next;
      isAfterCr = part[lineEnd] === CR;
      next = Math.min(lineEnd + 1, part.length);
      if (lineEnd === part.length) break;
      const isEnd = isEmpty || isLines;
      isEmpty = true;
      if (!isEnd) continue;
      if (this.#isOver(next - start)) return { units, end, next };
      units += 1;
      end = next;
      start = next;
    }
    this.#isEmpty = isEmpty;
    this.#isAfterCr = isAfterCr;
    this.#length = next - start;
    this.#isOver(this.#length);
    return { units, end, next };
  }

  #isOver(bytes: number): boolean {
    this.#isTooLong ||= bytes > this.#maxBytes;
    return this.#isTooLong;
  }
}

/** So many bytes are compared before `indexOf`, whose call takes as long. */
const NEAR_BYTES = 16;

/** Finds a byte again and again, in time that is linear in the length of the part. */
class ByteFinder {
  readonly #part: Uint8Array;
  readonly #byte: number;
  #found = -1;

  constructor(part: Uint8Array, byte: number) {
    this.#part = part;
    this.#byte = byte;
  }

  /** The first offset that is not below `start`, which never decreases; the length without one. */
  from(start: number): number {
    if (this.#found < start) this.#found = this.#find(start);
    return this.#found;
  }

  #find(start: number): number {
    const part = this.#part;
    const near = Math.min(start + NEAR_BYTES, part.length);
    for (let offset = start; offset < near; offset += 1) {
      if (part[offset] === this.#byte) return offset;
    }
    const offset = part.indexOf(this.#byte, near);
    return offset === -1 ? part.length : offset;
  }
}
