/** Names of OpenSSL and of Node.js, each of one cause; every other name of a certificate is about its authority. */
const CERTIFICATE_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another name'],
  ['HOSTNAME_MISMATCH', 'is for another name'],
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'is not valid yet'],
]);
/** With a private authority, this is how most setups fail. */
export const UNKNOWN_AUTHORITY = 'is from an unknown authority';

/** @returns what the certificate of a server is or has, by the code of an error; `undefined` for other errors */
export function findCertificateProblem(code: string): string | undefined {
  const known = CERTIFICATE_PROBLEMS.get(code);
  return known ?? (/CERT|^UNABLE_TO_/.test(code) ? UNKNOWN_AUTHORITY : undefined);
}

/** Whether the code of an error says that a TLS handshake failed, but for the certificate. */
export function isHandshakeFailure(code: unknown): boolean {
  return typeof code === 'string' && /^(?:EPROTO$|ERR_SSL_)/.test(code);
}
