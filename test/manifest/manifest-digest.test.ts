import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { manifestDigest } from '../../core/manifest/parse-manifest.js';

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

describe('manifestDigest', () => {
  it('digests the RFC 8785 form', () => {
    // The example of RFC 8785, section 3.2.2.
    const value = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`);
    const canonical =
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}';
    expect(manifestDigest(value)).to.equal(sha256(canonical));
  });

  it('does not depend on the order of keys or on layout', () => {
    const first = JSON.parse('{"b": 1, "a": {"d": 1.0, "c": 2}}');
    const other = JSON.parse('{"a":{"c":2,"d":1},"b":1e0}');
    expect(manifestDigest(first)).to.equal(manifestDigest(other));
  });

  it('depends on the order of lists and on every value', () => {
    const digests = [[1, 2], [2, 1], [1, '2'], [1, null], []].map(manifestDigest);
    expect(new Set(digests)).to.have.property('size', digests.length);
  });
});
