/** For bash and zsh: nothing within single quotes means anything. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For fish, where a backslash before a single quote, or another, stands for that one. */
export function quoteForFish(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
