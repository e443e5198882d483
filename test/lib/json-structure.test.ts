import { expect } from 'chai';
import fc from 'fast-check';
import { measureJson } from '../../core/lib/json/json-check.js';
import { sliceMembers } from '../../core/lib/json/json-structure.js';

const measureDepth = (json: Uint8Array) => measureJson(json).depth;

describe('sliceMembers', () => {
  it('returns the unchanged bytes of each member', () => {
    const json = Buffer.from(
      ' { "a" : [1.10, {"b":"}],"}] , "\\u0062":12345678901234567890,"c":null} ',
    );
    const members = sliceMembers(json);
    expect([...members].map(([name, bytes]) => [name, bytes.toString()])).to.deep.equal([
      ['a', '[1.10, {"b":"}],"}]'],
      ['b', '12345678901234567890'],
      ['c', 'null'],
    ]);
  });

  it('returns the last of two duplicate members, as JSON.parse does', () => {
    expect(sliceMembers(Buffer.from('{"a":1,"a":2}')).get('a')?.toString()).to.equal('2');
    expect(sliceMembers(Buffer.from('{}')).size).to.equal(0);
  });

  it('agrees with JSON.parse on every object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        const members = sliceMembers(Buffer.from(text));
        expect([...members.keys()].sort()).to.deep.equal(Object.keys(parsed).sort());
        for (const [name, bytes] of members) {
          expect(JSON.parse(bytes.toString())).to.deep.equal(parsed[name]);
        }
      }),
    );
  });
});

describe('measureDepth', () => {
  it('counts arrays and objects, ignoring brackets in strings', () => {
    expect(measureDepth(Buffer.from('1'))).to.equal(0);
    expect(measureDepth(Buffer.from('"[[[["'))).to.equal(0);
    expect(measureDepth(Buffer.from('["\\"[", {"a":[1]}, []]'))).to.equal(3);
    expect(measureDepth(Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`))).to.equal(
      100_000,
    );
  });
});
