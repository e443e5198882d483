/** The value that a hook has created. @throws before the hook has run. */
export function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('used before it was started');
  return value;
}
