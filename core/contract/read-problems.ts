import { array, is, number, optional, size, string, type, union } from 'superstruct';
import type { ModuleProblem } from './adapter.js';

const MAX_PATH = 64;

const moduleProblems = array(
  type({
    path: size(array(union([string(), number()])), 0, MAX_PATH),
    message: string(),
    hint: optional(string()),
  }),
);

/**
 * Validates what a check of an adapter returns.
 * @throws Error for an invalid list.
 */
export function readProblems(found: unknown): readonly ModuleProblem[] {
  if (is(found, moduleProblems)) return found as readonly ModuleProblem[];
  throw new Error('the adapter returns invalid problems');
}
