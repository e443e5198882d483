const MAX_LENGTH = 200;
const MAX_SIZE = 200;

/** One character or class, without a group. */
const ATOM = String.raw`(?:[^\\()[\]{}|*+?.^$]|\\[dDwWsS/.\-^$*+?()[\]{}|\\]|\.|\[(?:[^\]\\]|\\.)+\])`;
const FIXED = String.raw`(?:\{\d+\})?`;
const VARIABLE = String.raw`(?:[*+?]|\{\d+,\d*\})`;
const SIMPLE = new RegExp(
  `^\\^(?:${ATOM}${FIXED})*(?:${ATOM}${VARIABLE})?(?:${ATOM}${FIXED})*\\$?$`,
  'u',
);

/**
 * Whether the backtracking of JavaScript's own engine is bounded for a valid pattern: it starts at the start of
 * the text and has at most one part of variable length, so each character is visited at most `size` times. Most
 * patterns are like that, and the own engine needs a tenth of the time of RE2.
 */
export function isSimplePattern(pattern: string, size: number): boolean {
  return size <= MAX_SIZE && pattern.length <= MAX_LENGTH && SIMPLE.test(pattern);
}
