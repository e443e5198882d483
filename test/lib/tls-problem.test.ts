import { expect } from 'chai';
import { findCertificateProblem, isHandshakeFailure } from '../../core/lib/tls-problem.js';

const UNKNOWN = 'is from an unknown authority';

/** By the codes of Node.js and OpenSSL. */
const PROBLEMS: Readonly<Record<string, string | undefined>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
  HOSTNAME_MISMATCH: 'is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN,
  CERT_UNTRUSTED: UNKNOWN,
  ECONNRESET: undefined,
  EPROTO: undefined,
  toString: undefined,
  '': undefined,
};

describe('TLS problem', () => {
  it('says what a certificate lacks', () => {
    for (const [code, problem] of Object.entries(PROBLEMS)) {
      expect(findCertificateProblem(code), code).to.equal(problem);
    }
  });

  it('is a failed handshake by the codes of all versions of Node.js', () => {
    const codes = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];
    for (const code of codes) expect(isHandshakeFailure(code), code).to.equal(true);
    for (const code of ['EPROTONOSUPPORT', 'ECONNRESET', undefined]) {
      expect(isHandshakeFailure(code), String(code)).to.equal(false);
    }
  });
});
