import { findBrokenRule, isEncodedValue, isRejectedSegment } from './path-segment.js';

/** The reason why a path matches no route, or only routes with a special option. */
export interface PathProblem {
  /** Stable id in kebab-case: `dot-segment`. */
  readonly rule: string;
  /** Segment of the path within the module, from 1; `null` for a problem elsewhere. */
  readonly segment: number | null;
  readonly reason: string;
}

export interface DecodedPath {
  /** The last segment is empty if the path ends with a slash; the root has none. */
  readonly segments: readonly string[];
  /** The positions of segments that only encoded parameters accept. */
  readonly encoded: readonly number[];
}

const ROOT = '/';
/** More segments match nothing, so that matching them costs little. */
const MAX_SEGMENTS = 256;
const ROOT_PATH: DecodedPath = { segments: [], encoded: [] };

// Characters that a URL parser rewrites or splits on, " # < > ? \ ^ ` { | }, and all except visible
// ASCII.
const REWRITTEN = /[^!$-;=@-[\]_a-z~]/;
const TOO_LONG: PathProblem = {
  rule: 'too-many-segments',
  segment: null,
  reason: `the path has more than ${MAX_SEGMENTS} segments`,
};
const BAD_ENCODING = { rule: 'bad-encoding', reason: 'is not percent-encoded UTF-8' };

/** @returns `null` for a path that matches no route */
export function decodePath(path: string): DecodedPath | null {
  if (path === ROOT) return ROOT_PATH;
  if (REWRITTEN.test(path)) return null;
  const segments = path.slice(1).split('/');
  if (segments.length > MAX_SEGMENTS) return null;
  const encoded: number[] = [];
  for (let index = 0; index < segments.length; index += 1) {
    const raw = segments[index] ?? '';
    const decoded = decodeSegment(raw);
    if (decoded === null) return null;
    if (isRejectedSegment(raw, decoded) && !isFinalSlash(segments, index)) {
      if (decoded === raw || !isEncodedValue(decoded)) return null;
      encoded.push(index);
    }
    segments[index] = decoded;
  }
  return { segments, encoded };
}

/** `/console` of `/console`, `/console/a` and `/console?x=1`; compared byte for byte. */
export function firstSegment(target: string): string {
  return /^\/[^/?#]*/.exec(target)?.[0] ?? '';
}

/** Percent-decodes once, strictly; returns `null` for invalid UTF-8. */
export function decodeSegment(raw: string): string | null {
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

/** The first rule that a path breaks, so that it matches no route; `null` for none. */
export function findPathProblem(path: string): PathProblem | null {
  return findProblem(path, (segments, index, decoded) => {
    return isFinalSlash(segments, index) || isEncodedValue(decoded);
  });
}

/**
 * The reason why only some routes match a path: a final slash, or encoded characters; `null` if any
 * route can.
 */
export function findSpecialForm(path: string): PathProblem | null {
  return findProblem(path, () => false);
}

/**
 * Checks raw characters before all segments.
 * @param isAccepted whether a segment that breaks a rule is accepted anyway
 */
function findProblem(
  path: string,
  isAccepted: (segments: readonly string[], index: number, decoded: string) => boolean,
): PathProblem | null {
  if (path === ROOT) return null;
  const segments = path.slice(1).split('/');
  if (segments.length > MAX_SEGMENTS) return TOO_LONG;
  const rewritten = segments.findIndex((raw) => REWRITTEN.test(raw));
  if (rewritten !== -1) {
    const reason = 'contains a character that must be encoded';
    return createProblem(rewritten, { rule: 'raw-characters', reason });
  }
  for (const [index, raw] of segments.entries()) {
    const decoded = decodeSegment(raw);
    if (decoded === null) return createProblem(index, BAD_ENCODING);
    const broken = findBrokenRule(raw, decoded);
    if (broken === null || isAccepted(segments, index, decoded)) continue;
    const problem = createProblem(index, broken);
    return isFinalSlash(segments, index)
      ? { ...problem, reason: 'the path ends with a slash' }
      : problem;
  }
  return null;
}

/** Whether the segment is the empty one after a slash at the end of a path. */
function isFinalSlash(segments: readonly string[], index: number): boolean {
  return segments[index] === '' && index > 0 && index === segments.length - 1;
}

function createProblem(
  index: number,
  { rule, reason }: Pick<PathProblem, 'rule' | 'reason'>,
): PathProblem {
  return { rule, segment: index + 1, reason: `segment ${index + 1} ${reason}` };
}
