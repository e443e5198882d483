import { findBrokenRule, isEncodedValue, isRejectedSegment } from './path-segment.js';

/** Why a path can match no route, or none without an option of its own. */
export interface PathProblem {
  /** Stable id in kebab-case: `dot-segment`. */
  readonly rule: string;
  /** Segment of the path within the module, from 1; `null` for a problem elsewhere. */
  readonly segment: number | null;
  readonly reason: string;
}

export interface DecodedPath {
  /** The last is empty where the path ends with a slash; none for the root. */
  readonly segments: readonly string[];
  /** The positions of segments that only parameters for any character take. */
  readonly encoded: readonly number[];
}

const ROOT = '/';
const NONE: readonly number[] = [];
const ROOT_PATH: DecodedPath = { segments: [], encoded: NONE };

// What a URL parser rewrites or splits on, " # < > ? \ ^ ` { | }, and all beyond visible ASCII.
const REWRITTEN = /[^!$-;=@-[\]_a-z~]/;
const BAD_ENCODING = { rule: 'bad-encoding', reason: 'is not percent-encoded UTF-8' };

/** @returns `null` for a path that can match no route */
export function decodePath(path: string): DecodedPath | null {
  if (path === ROOT) return ROOT_PATH;
  if (REWRITTEN.test(path)) return null;
  const segments = path.slice(1).split('/');
  let encoded = NONE;
  for (let index = 0; index < segments.length; index += 1) {
    const raw = segments[index] ?? '';
    const decoded = decodeSegment(raw);
    if (decoded === null) return null;
    if (isRejectedSegment(raw, decoded) && !isFinalSlash(segments, index)) {
      if (decoded === raw || !isEncodedValue(decoded)) return null;
      encoded = [...encoded, index];
    }
    segments[index] = decoded;
  }
  return { segments, encoded };
}

/** `/console` of `/console`, `/console/a` and `/console?x=1`; compared byte for byte. */
export function firstSegment(target: string): string {
  return /^\/[^/?#]*/.exec(target)?.[0] ?? '';
}

/** Percent-decodes once, strictly; `null` where that is not valid UTF-8. */
export function decodeSegment(raw: string): string | null {
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

/** The first rule that a path breaks, so that no route can match it; `null` for none. */
export function findPathProblem(path: string): PathProblem | null {
  return findProblem(path, (segments, index, decoded) => {
    return isFinalSlash(segments, index) || isEncodedValue(decoded);
  });
}

/** Why only some routes can match a path: a final slash, or encoded characters; `null` where any route can. */
export function findSpecialForm(path: string): PathProblem | null {
  return findProblem(path, () => false);
}

/**
 * Raw characters come before all segments.
 * @param isAccepted whether a segment that breaks a rule is accepted all the same
 */
function findProblem(
  path: string,
  isAccepted: (segments: readonly string[], index: number, decoded: string) => boolean,
): PathProblem | null {
  if (path === ROOT) return null;
  const segments = path.slice(1).split('/');
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

/** Whether the segment is the empty one behind a slash at the end of a path. */
function isFinalSlash(segments: readonly string[], index: number): boolean {
  return segments[index] === '' && index > 0 && index === segments.length - 1;
}

function createProblem(
  index: number,
  { rule, reason }: Pick<PathProblem, 'rule' | 'reason'>,
): PathProblem {
  return { rule, segment: index + 1, reason: `segment ${index + 1} ${reason}` };
}
