import { compileModule } from './wasm-module.js';

/** The end of a unit of a stream: a blank line for an event (SSE), a line end for JSON (NDJSON). */
export type UnitEnd = 'blank-line' | 'line';

/** The exports of core/lib/wasm/unit-ends.ts. */
interface UnitEnds {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly TEXT: { readonly value: number };
  readonly MAX_BYTES: { readonly value: number };
  restore(heldBytes: number, isEmpty: boolean, isAfterReturn: boolean): void;
  scan(length: number, isLines: boolean, maxUnits: number, maxUnitBytes: number): number;
  readonly heldBytes: { readonly value: number };
  readonly isEmpty: { readonly value: number };
  readonly isAfterReturn: { readonly value: number };
  readonly units: { readonly value: number };
  readonly end: { readonly value: number };
}

interface Scan {
  /** The number of units that end here. */
  readonly units: number;
  /** The offset after the last of them; 0 without one. */
  readonly end: number;
  /** The offset after the scanned bytes. */
  readonly next: number;
}

const unitEnds = compileModule<UnitEnds>(new URL('./wasm/unit-ends.wasm', import.meta.url))();
const MAX_BYTES = unitEnds.MAX_BYTES.value;
const text = new Uint8Array(unitEnds.memory.buffer, unitEnds.TEXT.value, MAX_BYTES);
/** More than any limit. */
const MANY = 2 ** 31 - 1;

/**
 * Finds the ends of the units of a stream, wherever it is cut: an event ends with its blank line,
 * and JSON with its line. It decodes and keeps nothing.
 */
export class EventScanner {
  readonly #isLines: boolean;
  readonly #maxBytes: number;
  /** Bytes of the incomplete unit. */
  #heldBytes = 0;
  /** Whether the line has no byte yet. */
  #isEmpty = true;
  #isAfterReturn = false;

  /** @param maxBytes the maximum of a unit */
  constructor(end: UnitEnd, maxBytes = MANY) {
    this.#isLines = end === 'line';
    this.#maxBytes = maxBytes;
  }

  /** Whether a unit exceeded the maximum: do not continue. */
  get isTooLong(): boolean {
    return this.#heldBytes > this.#maxBytes;
  }

  /** Scans a part of the stream up to its end, or until `maxUnits` have ended. */
  scan(part: Uint8Array, maxUnits = MANY): Scan {
    let units = 0;
    let end = 0;
    let next = 0;
    while (next < part.length && units < maxUnits && !this.isTooLong) {
      const start = next;
      next += this.#scanShort(part.subarray(start, start + MAX_BYTES), maxUnits - units);
      units += unitEnds.units.value;
      if (unitEnds.end.value > 0) end = start + unitEnds.end.value;
    }
    return { units, end, next };
  }

  /** @returns the number of scanned bytes */
  #scanShort(part: Uint8Array, maxUnits: number): number {
    text.set(part);
    unitEnds.restore(this.#heldBytes, this.#isEmpty, this.#isAfterReturn);
    const scanned = unitEnds.scan(part.length, this.#isLines, maxUnits, this.#maxBytes);
    this.#heldBytes = unitEnds.heldBytes.value;
    this.#isEmpty = unitEnds.isEmpty.value === 1;
    this.#isAfterReturn = unitEnds.isAfterReturn.value === 1;
    return scanned;
  }
}
