/** `identity`, and what senders write who mean a charset, or that there is none. */
const PLAIN: ReadonlySet<string> = new Set(['identity', 'utf-8', 'utf8', 'none']);

/** Whether a body is encoded. An empty `content-encoding` counts as an unknown encoding. */
export function isEncoded(contentEncoding: string | null | undefined): boolean {
  return contentEncoding != null && !PLAIN.has(contentEncoding.toLowerCase());
}
