/**
 * Commander's message as one line of ours: `unknown option '--prot' (did you mean '--port'?)`. What follows
 * `=` is cut off, since it may be a secret under a misspelled name.
 */
export function describeUsageError(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/^(unknown option '[^'=]*)=.*?'(?=$|\n)/s, "$1'")
    .replace(/\n\(Did you mean (?:one of )?(.*)\?\)$/, (_match, names: string) => {
      const quoted = names.split(', ').map((name) => `'${name}'`);
      return ` (did you mean ${quoted.join(' or ')}?)`;
    })
    .replace(/\. Expected/, ': expected')
    .replace(/\.$/, '');
}
