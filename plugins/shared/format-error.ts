/** OpenSSL names a thread and a line of its source: `80CC:error:0A00:SSL:read:bad certificate:f.c:1`. */
const OPENSSL = /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/;

/** The message of a thrown value, for operators. */
export function formatError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'it threw a value that is not an error';
  const [, reason] = OPENSSL.exec(thrown.message) ?? [];
  return reason === undefined ? thrown.message : `TLS: ${reason}`;
}
