// AssemblyScript, compiled to unit-ends.wasm by tools/build.mjs: TypeScript's syntax, WebAssembly's types.
// Finds where the units of a stream end, in a part of it in the module's memory: lines end with a line feed, and
// events with a blank line, whose lines end with a line feed, a carriage return or both.

const LINE_FEED: u8 = 0x0a;
const CARRIAGE_RETURN: u8 = 0x0d;
/** Bytes per step. */
const STEP: usize = 16;

// Sixteen times the same byte, loaded from memory for comparison: constants in code would be rebuilt each time.
const LINE_FEEDS: usize = 0;
const CARRIAGE_RETURNS: usize = STEP;
v128.store(LINE_FEEDS, i8x16.splat(LINE_FEED));
v128.store(CARRIAGE_RETURNS, i8x16.splat(CARRIAGE_RETURN));

/** Offset of the part in memory. */
export const TEXT: usize = 2 * STEP;
/** The maximum of a part. Bytes. */
export const MAX_BYTES: usize = 65_536;
// The last step reads beyond the part.
memory.grow(1);

// The state between two parts.
/** Bytes of the incomplete unit. */
export let heldBytes: usize = 0;
/** Whether the line has no byte yet. */
export let isEmpty: bool = true;
/** Whether the last byte was a carriage return. */
export let isAfterReturn: bool = false;

// The result of a scan.
/** The number of units that end in the part. */
export let units: u32 = 0;
/** The number of bytes up to the last of these ends; 0 without one. */
export let end: usize = 0;

/** Sets the state, which is that of the start of a stream otherwise. */
export function restore(held: usize, isLineEmpty: bool, isBehindReturn: bool): void {
  heldBytes = held;
  isEmpty = isLineEmpty;
  isAfterReturn = isBehindReturn;
}

/**
 * Scans the `length` bytes at `TEXT`, until `maxUnits` have ended or a complete one is longer than `maxUnitBytes`,
 * which is not counted.
 * @returns the number of scanned bytes
 */
export function scan(length: usize, isLines: bool, maxUnits: u32, maxUnitBytes: usize): usize {
  const textEnd = TEXT + length;
  // Addresses after the last line end, carriage return and unit.
  let lineStart = isEmpty ? TEXT : 0;
  let returnEnd: usize = isAfterReturn ? TEXT : 0;
  let unitStart = TEXT;
  units = 0;
  end = 0;
  for (let step = TEXT; step < textEnd; step += STEP) {
    let ends = findLineEnds(step, isLines);
    for (; ends !== 0; ends &= ends - 1) {
      const at = step + ctz(ends);
      if (at >= textEnd) break;
      const next = at + 1;
      const byte = load<u8>(at);
      if (byte === LINE_FEED && at === returnEnd) {
        // The end of the last unit, which may have come without it, so it never counts.
        lineStart = next;
        if (unitStart !== at || heldBytes !== 0) continue;
        end = next - TEXT;
        unitStart = next;
        continue;
      }
      const isEnd = isLines || at === lineStart;
      lineStart = next;
      if (byte === CARRIAGE_RETURN) returnEnd = next;
      if (!isEnd) continue;
      const bytes = heldBytes + next - unitStart;
      if (bytes > maxUnitBytes) {
        heldBytes = bytes;
        return next - TEXT;
      }
      heldBytes = 0;
      units += 1;
      end = next - TEXT;
      unitStart = next;
      if (units === maxUnits) {
        restore(0, true, returnEnd === next);
        return end;
      }
    }
  }
  restore(heldBytes + textEnd - unitStart, lineStart === textEnd, returnEnd === textEnd);
  return length;
}

/** A bit for each of the sixteen bytes that ends a line. */
function findLineEnds(from: usize, isLines: bool): i32 {
  const bytes = v128.load(from);
  const feeds = i8x16.eq(bytes, v128.load(LINE_FEEDS));
  if (isLines) return i8x16.bitmask(feeds);
  return i8x16.bitmask(v128.or(feeds, i8x16.eq(bytes, v128.load(CARRIAGE_RETURNS))));
}
