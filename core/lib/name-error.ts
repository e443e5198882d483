/** A name for an error that is safe to show: its message may hold secrets and goes to the log only. */
export function nameError(error: unknown): string {
  if (!(error instanceof Error)) return 'a value that is not an error';
  const { code } = error as NodeJS.ErrnoException;
  const name = /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(error.name) ? error.name : 'Error';
  const isPlainCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code);
  return isPlainCode ? `${name} (${code})` : name;
}
