/** Quotes for bash and zsh, where single quotes make every character literal. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes for fish, where single quotes and backslashes are escaped by a backslash. */
export function quoteForFish(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
