/** The message of a thrown value, for operators. */
export function formatError(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'it threw a value that is not an error';
}
