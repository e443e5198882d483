import { AssertionError } from 'node:assert';
import type { Struct } from 'superstruct';

/** @throws AssertionError that says what is wrong. */
export function assertValid(
  subject: string,
  value: unknown,
  struct: Pick<Struct<unknown, unknown>, 'validate'>,
): void {
  const [error] = struct.validate(value, { coerce: true });
  if (error === undefined) return;
  const { path, refinement, message } = error;
  // Messages of superstruct do not name refinements.
  const problem = refinement === undefined ? message : `${path.join('.')} must be ${refinement}`;
  throw new AssertionError({ message: `${subject} must be valid: ${problem.trim()}` });
}
