import { expect } from 'chai';
import fc from 'fast-check';
import { measureJson } from '../../core/lib/json/json-check.js';
import { hasMember, sliceMember } from '../../core/lib/json/json-structure.js';

const measureDepth = (json: Uint8Array) => measureJson(json).depth;

const slice = (text: string, name: string) =>
  sliceMember(Buffer.from(text), name)?.toString() ?? null;

describe('sliceMember', () => {
  it('returns the unchanged bytes of a member', () => {
    const json = ' { "a" : [1.10, {"b":"}],"}] , "\\u0062\\u004A":12345678901234567890,"c":null} ';
    expect(slice(json, 'a')).to.equal('[1.10, {"b":"}],"}]');
    expect(slice(json, 'bJ')).to.equal('12345678901234567890');
    expect(slice(json, 'c')).to.equal('null');
  });

  it('returns the last of two duplicate members, as JSON.parse does', () => {
    expect(slice('{"a":1,"\\u0061":2}', 'a')).to.equal('2');
  });

  it('returns null without the member', () => {
    for (const json of [
      '{}',
      '[{"a":1}]',
      '"a"',
      '{"b":{"a":1}}',
      '{"ab":1,"\\"a":2,"\\u0062":3}',
    ]) {
      expect(slice(json, 'a'), json).to.equal(null);
    }
  });

  it('agrees with JSON.parse on every object', () => {
    const names = fc.string({ unit: fc.constantFrom('a', 'b', 'Z', '.', '_', '9'), maxLength: 4 });
    const members = fc.dictionary(fc.oneof(names, fc.string()), fc.jsonValue());
    fc.assert(
      fc.property(members, names, fc.nat(3), fc.boolean(), (object, other, indent, isEscaped) => {
        const text = JSON.stringify(object, null, indent);
        const json = isEscaped ? escapeNames(text) : text;
        const parsed = JSON.parse(json) as Record<string, unknown>;
        for (const name of [...Object.keys(object), other].filter((key) => /^[\w.]*$/.test(key))) {
          const bytes = slice(json, name);
          expect(bytes !== null, name).to.equal(Object.hasOwn(parsed, name));
          if (bytes !== null) expect(JSON.parse(bytes)).to.deep.equal(parsed[name]);
          const isFound = Object.keys(parsed).some((key) => key.startsWith(name));
          expect(hasMember(Buffer.from(json), name), name).to.equal(isFound);
        }
      }),
    );
  });
});

/** Escapes letters in names, and in values too. */
const escapeNames = (text: string) =>
  text.replace(
    /(?<=[":\s,{[])[abZ](?=["\w.])/g,
    (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`,
  );

describe('measureJson', () => {
  it('counts all values, arrays and objects included', () => {
    const count = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 1;
      return Object.values(value).reduce<number>((sum, member) => sum + count(member), 1);
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        const { values } = measureJson(Buffer.from(JSON.stringify(value, null, indent)));
        expect(values).to.equal(count(value));
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
