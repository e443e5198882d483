/** OpenSSL adds a thread and a place: `80CC…:error:0A0…:SSL:read:bad certificate:f.c:1`. */
const OPENSSL = /(?:^|\s)[0-9A-F]{8,32}:error:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):/;

/** The message of a thrown value, for operators. */
export function formatError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'it threw a value that is not an error';
  const [, reason] = OPENSSL.exec(thrown.message) ?? [];
  return reason === undefined ? thrown.message : `TLS: ${reason}`;
}
