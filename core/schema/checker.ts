import type { Evaluated } from './evaluated.js';
import type { Place, Run } from './run.js';

/**
 * Checks one keyword of a schema.
 * @param at `null`: stop at the first violation and report none
 * @param seen `null`: the parts that were evaluated make no difference
 */
export type KeywordCheck<T = unknown> = (
  value: T,
  run: Run,
  place: Place | null,
  seen: Evaluated | null,
) => boolean;

/** Checks a subschema. */
export interface Checker {
  readonly check: KeywordCheck;
  /** Whether it may accept values of a kind, according to its `type`. */
  acceptsKind(value: unknown): boolean;
}

/** Finds the checkers of subschemas. */
export interface CheckerSource {
  checkerOf(schema: unknown): Checker;
  /** @throws Error for a broken reference, which the rules of schemas exclude. */
  checkerAt(reference: string): Checker;
  matcherOf(pattern: string): Matcher;
}

export interface Matcher {
  /** @throws CheckTooCostly */
  test(text: string, run: Run): boolean;
}

/** A place below another one; `null` where no violations are reported. */
export function below(place: Place | null, key: string | number): Place | null {
  return place === null ? null : { parent: place, key };
}

/** Reports a violation at the place. @returns `false`, for the caller to return */
export function violates(run: Run, place: Place | null, reason: string): false {
  if (place !== null) run.report(place, reason);
  return false;
}
