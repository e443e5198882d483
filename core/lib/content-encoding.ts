/** Whether a `content-encoding` names a coding: an empty list names none (RFC 9110, 5.6.1). */
export function isEncoded(contentEncoding: string | null | undefined): boolean {
  const codings = contentEncoding ?? '';
  return codings !== '' && codings.toLowerCase() !== 'identity';
}
