import { expect } from 'chai';
import { formatError } from '../../../plugins/shared/format-error.js';

const ALERT =
  '808C2330D77F0000:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:' +
  '../deps/openssl/openssl/ssl/record/rec_layer_s3.c:1601:SSL alert number 116\n';

describe('formatError', () => {
  it('returns the reason of an error of OpenSSL', () => {
    for (const message of [ALERT, `write EPROTO ${ALERT}`]) {
      const expected = 'TLS: tlsv13 alert certificate required';
      expect(formatError(new Error(message))).to.equal(expected);
    }
  });

  it('returns other messages as they are', () => {
    for (const message of ['connection refused', 'error:0A00', "certificate's altnames: a:b"]) {
      expect(formatError(new Error(message))).to.equal(message);
    }
  });
});
