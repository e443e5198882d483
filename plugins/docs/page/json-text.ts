/** Indents JSON without changing its values: numbers keep their digits. */
export function formatJson(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  const lines = tokens.map((token, index) => {
    const isEmpty = /^[{[]$/.test(tokens[index - 1] ?? '') && /^[}\]]$/.test(token);
    if (token === '{' || token === '[') {
      depth += 1;
      const closesAtOnce = /^[}\]]$/.test(tokens[index + 1] ?? '');
      return closesAtOnce ? token : token + newLine(depth);
    }
    if (token === '}' || token === ']') {
      depth -= 1;
      return isEmpty ? token : newLine(depth) + token;
    }
    if (token === ',') return token + newLine(depth);
    return token === ':' ? ': ' : token;
  });
  return lines.join('');
}

function newLine(depth: number): string {
  return `\n${'  '.repeat(depth)}`;
}

/** Returns `null` for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
