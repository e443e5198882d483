/** A parameter in the path of a route, with one segment or several. */
const PARAMETER = /\{([A-Za-z0-9_-]+)(\.\.\.)?\}/g;
/** Characters that must be encoded in a path. */
const ENCODED = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/]+/g;

/**
 * Writes a path with these values. Each stays within its segment: every other character is percent-encoded.
 * @throws URIError for a value with half of a surrogate pair.
 */
export function writePath(template: string, values: ReadonlyMap<string, string>): string {
  let path = '';
  let end = 0;
  for (const match of template.matchAll(PARAMETER)) {
    const [text, name = '', rest] = match;
    const value = values.get(name) ?? '';
    path += template.slice(end, match.index).replace(ENCODED, encodeURIComponent);
    path += rest === undefined ? encodeURIComponent(value) : encodeSegments(value);
    end = match.index + text.length;
  }
  return path + template.slice(end).replace(ENCODED, encodeURIComponent);
}

function encodeSegments(value: string): string {
  return value.split('/').map(encodeURIComponent).join('/');
}
