/** What is never in a segment that was percent-encoded: the host rejects such targets. */
export const UNREACHABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  /[/\\?#\u0000-\u001f\u007f-\u009f]|%[0-9A-Fa-f]{2}/u;
/** What a server may read as `.` or `..`, which no segment of a request may be. */
export const DOT_SEGMENT = /^\.{1,2}(?:;|$)/;

/** Visible ASCII without the characters that a URL parser rewrites or that end a path. */
const PLAIN_PATH = /^\/(?:[!$&'()*+,\-.0-9:;=@A-Z[\]_a-z~/]|%[0-9A-Fa-f]{2})*$/;

export function isDotSegment(text: string): boolean {
  return DOT_SEGMENT.test(text);
}

/** Whether a segment of a request can be this text after decoding. */
export function canBeSegment(text: string): boolean {
  return text !== '' && !isDotSegment(text) && !UNREACHABLE.test(text) && text.isWellFormed();
}

/**
 * Whether the host can call the path as it is: no query, no fragment, no dot segments, nothing that a URL
 * parser rewrites, and no `//`, after which a URL parser expects a host name.
 */
export function isPlainPath(text: string): boolean {
  if (!PLAIN_PATH.test(text) || text.includes('//')) return false;
  return !text.split('/').some((segment) => isDotSegment(segment.replaceAll(/%2e/gi, '.')));
}
