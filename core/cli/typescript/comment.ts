/** Formats a documentation comment with these lines, indented; empty without lines. */
export function formatComment(texts: readonly string[], indent: string): string {
  const lines = texts.flatMap((text) => text.trim().split(/\r\n|[\r\n\u2028\u2029]/));
  if (lines.length === 0) return '';
  const safe = lines.map((line) => line.trimEnd().replaceAll('*/', '*\\/'));
  if (safe.length === 1) return `${indent}/** ${safe[0]} */\n`;
  const rows = safe.map((line) => (line === '' ? `${indent} *\n` : `${indent} * ${line}\n`));
  return `${indent}/**\n${rows.join('')}${indent} */\n`;
}
