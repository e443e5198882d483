import canonicalize from 'canonicalize';
import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalizeValue, isSameJson } from '../../core/contract/canonical-value.js';

describe('canonicalizeValue', () => {
  it('returns the canonical form of RFC 8785', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalizeValue(value)).to.equal(canonicalize(value));
      }),
    );
  });

  it('writes what JSON.stringify writes for other values', () => {
    const value = { b: new URL('http://a.example/'), a: undefined, c: [undefined, new Date(0)] };
    expect(canonicalizeValue(value)).to.equal(JSON.stringify(value));
    expect(canonicalizeValue(value)).to.equal(canonicalize(value));
  });

  it('writes numbers beyond a double as null', () => {
    expect(canonicalizeValue(JSON.parse('[1e999,-1e999,-0]'))).to.equal('[null,null,0]');
  });

  it('copies no text for each level around it', () => {
    const text = JSON.stringify('a'.repeat(1_000_000));
    const levels = 1000;
    const json = '['.repeat(levels) + text + ']'.repeat(levels);
    expect(canonicalizeValue(JSON.parse(json))).to.equal(json);
  });
});

describe('isSameJson', () => {
  it('ignores the order of members, but not whether a value is undefined or null', () => {
    expect(isSameJson({ a: 1, b: [null] }, { b: [null], a: 1 })).to.equal(true);
    expect(isSameJson([1, 2], [2, 1])).to.equal(false);
    expect(isSameJson(undefined, undefined)).to.equal(true);
    expect(isSameJson(undefined, null)).to.equal(false);
  });
});
