/** By the code of OpenSSL or Node.js. Other codes of certificates are about the authority. */
const CERTIFICATE_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another name'],
  ['HOSTNAME_MISMATCH', 'is for another name'],
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'is not valid yet'],
]);
/** With a private authority, this is how most setups fail. */
export const UNKNOWN_AUTHORITY = 'is from an unknown authority';

/**
 * Says what is wrong with the certificate of a server, after "the certificate".
 * @param code of the error of the connection
 * @returns `undefined` for an error that is not about a certificate
 */
export function findCertificateProblem(code: string): string | undefined {
  const known = CERTIFICATE_PROBLEMS.get(code);
  return known ?? (/CERT|^UNABLE_TO_/.test(code) ? UNKNOWN_AUTHORITY : undefined);
}

/** Whether a code means that a TLS handshake failed for a reason other than the certificate. */
export function isHandshakeFailure(code: unknown): boolean {
  return typeof code === 'string' && /^(?:EPROTO$|ERR_SSL_)/.test(code);
}
