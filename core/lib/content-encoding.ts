/** Whether a body is not in plain encoding. An empty `content-encoding` is none that a host can read. */
export function isEncoded(contentEncoding: string | null | undefined): boolean {
  return contentEncoding != null && contentEncoding.toLowerCase() !== 'identity';
}
