/** Converts a value that third-party code threw to an error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error('it threw a value that is not an error', { cause: thrown });
}
