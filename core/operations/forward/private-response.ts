/** A directive without a comma in its value (RFC 9111, 5.2). */
const DIRECTIVE = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:=(?:[!#$%&'*+.^_`|~0-9a-z-]+|"[^",]*"))?$/i;
/** They decide whether a cache may give the response to other callers. */
const SHARING = new Set(['public', 's-maxage', 'private']);

/**
 * The `cache-control` of a response that was authorized for one caller: `private`, and the provider's other
 * directives. A value that caches may read differently, such as one with a comma in quotes, is not stored.
 */
export function makePrivate(cacheControl: string): string {
  const directives = ['private'];
  for (const part of cacheControl.split(',')) {
    const directive = part.trim();
    const name = DIRECTIVE.exec(directive)?.[1]?.toLowerCase();
    if (directive === '' || (name !== undefined && SHARING.has(name))) continue;
    if (name === undefined) return 'private, no-store';
    directives.push(directive);
  }
  return directives.join(', ');
}

/** The provider's `vary`, with the names of all headers that credentials may come in. */
export function addToVary(vary: string, credentialHeaders: readonly string[]): string {
  const names = vary
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.includes('*')) return '*';
  const present = new Set(names.map((name) => name.toLowerCase()));
  return [...names, ...credentialHeaders.filter((name) => !present.has(name))].join(', ');
}
