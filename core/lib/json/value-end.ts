const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const ZERO = 0x30;
const NINE = 0x39;

/** The last byte that is not white space of JSON; `null` without one. */
export function findLastByte(json: Uint8Array): number | null {
  return json.findLast((byte) => !WHITE_SPACE.has(byte)) ?? null;
}

/**
 * Whether JSON with this last byte is complete: more digits could follow a number, and nothing any
 * other value.
 */
export function isEndOfValue(last: number | null): boolean {
  return last !== null && (last < ZERO || last > NINE);
}
