/**
 * Returns the name of an error, which is safe to show: its message may contain secrets and is only
 * logged.
 */
export function nameError(error: unknown): string {
  if (!(error instanceof Error)) return 'a value that is not an error';
  const { code } = error as NodeJS.ErrnoException;
  const name = /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(error.name) ? error.name : 'Error';
  const isPlainCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code);
  return isPlainCode ? `${name} (${code})` : name;
}
