/** `identity`, and what senders write who mean a charset, or that there is none. */
const PLAIN: ReadonlySet<string> = new Set(['identity', 'utf-8', 'utf8', 'none']);

/** Whether a body is not in plain encoding. An empty `content-encoding` is none that a host can read. */
export function isEncoded(contentEncoding: string | null | undefined): boolean {
  return contentEncoding != null && !PLAIN.has(contentEncoding.toLowerCase());
}
