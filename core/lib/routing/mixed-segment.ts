import { compareTexts } from '../compare-texts.js';
import type { MixedSegment } from './route-template.js';

/**
 * Matches a decoded segment. Literals are searched from the left, the last one at the end of the
 * segment. Each value has at least one character.
 * @returns the values of the parameters, in order; `null` if the segment does not match
 */
export function matchMixed({ parts }: MixedSegment, decoded: string): string[] | null {
  const values: string[] = [];
  /** The start of the value of the preceding parameter; `null` after a literal. */
  let valueStart: number | null = null;
  let position = 0;
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'param') {
      valueStart = position;
      continue;
    }
    const isLast = index === parts.length - 1;
    const start = findLiteral(decoded, part.text, valueStart, position, isLast);
    if (start === -1) return null;
    if (valueStart !== null) values.push(decoded.slice(valueStart, start));
    valueStart = null;
    position = start + part.text.length;
  }
  if (valueStart === null) return position === decoded.length ? values : null;
  if (valueStart === decoded.length) return null;
  values.push(decoded.slice(valueStart));
  return values;
}

/** @returns the index of the literal; -1 without one */
function findLiteral(
  decoded: string,
  text: string,
  valueStart: number | null,
  position: number,
  isLast: boolean,
): number {
  if (valueStart === null) return decoded.startsWith(text, position) ? position : -1;
  if (!isLast) return decoded.indexOf(text, valueStart + 1);
  const start = decoded.length - text.length;
  return start > valueStart && decoded.endsWith(text) ? start : -1;
}

/**
 * The order in which mixed segments are tried: more literal characters first, then the longer first literal, then
 * by code unit.
 */
export function compareMixed(segment: MixedSegment, other: MixedSegment): number {
  const [mine, theirs] = [segment, other].map(({ parts }) => {
    const literals = parts.map((part) => (part.kind === 'literal' ? part.text.length : 0));
    const first = literals.find((length) => length > 0) ?? 0;
    return { total: literals.reduce((sum, length) => sum + length, 0), first };
  });
  if (mine === undefined || theirs === undefined) return 0;
  return (
    theirs.total - mine.total ||
    theirs.first - mine.first ||
    compareTexts(segment.shape, other.shape)
  );
}
