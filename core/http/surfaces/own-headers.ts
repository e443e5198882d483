/** They belong to the connection, or to the host. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'date',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-correlation-id',
  'x-request-id',
]);

/** Whether a surface cannot set the header of a response. @param name lower case */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name) || name.startsWith('proxy-');
}
