const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Returns the canonical form of a JSON text: members sorted by name, strings with the escapes of
 * `JSON.stringify`, no space. Numbers keep their spelling. The text must be valid JSON without
 * repeated members or deep nesting.
 */
export function canonicalizeText(json: string): string {
  const tokens = json.match(TOKEN) ?? [];
  let at = 0;
  const readList = (end: string, readEntry: () => string): string[] => {
    const entries: string[] = [];
    at += 1;
    while (tokens[at] !== end) {
      entries.push(readEntry());
      if (tokens[at] === ',') at += 1;
    }
    at += 1;
    return entries;
  };
  const readMember = (): string => {
    const name = normalizeToken(tokens[at] ?? '');
    at += 2;
    return `${name}:${read()}`;
  };
  const read = (): string => {
    const token = tokens[at] ?? '';
    if (token === '{') return `{${readList('}', readMember).sort().join(',')}}`;
    if (token === '[') return `[${readList(']', read).join(',')}]`;
    at += 1;
    return normalizeToken(token);
  };
  return read();
}

function normalizeToken(token: string): string {
  return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
}
