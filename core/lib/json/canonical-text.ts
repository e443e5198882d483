const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Returns the canonical form of a JSON text: members sorted by name, strings with the escapes of
 * `JSON.stringify`, no space. Numbers keep their spelling. The text must be valid JSON without
 * repeated members or deep nesting.
 */
export function canonicalizeText(json: string): string {
  const tokens = json.match(TOKEN) ?? [];
  let offset = 0;
  const readList = (end: string, readEntry: () => string): string[] => {
    const entries: string[] = [];
    offset += 1;
    while (tokens[offset] !== end) {
      entries.push(readEntry());
      if (tokens[offset] === ',') offset += 1;
    }
    offset += 1;
    return entries;
  };
  const readMember = (): string => {
    const name = normalizeToken(tokens[offset] ?? '');
    offset += 2;
    return `${name}:${read()}`;
  };
  const read = (): string => {
    const token = tokens[offset] ?? '';
    if (token === '{') return `{${readList('}', readMember).sort().join(',')}}`;
    if (token === '[') return `[${readList(']', read).join(',')}]`;
    offset += 1;
    return normalizeToken(token);
  };
  return read();
}

function normalizeToken(token: string): string {
  return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
}
