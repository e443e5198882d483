import { expect } from 'chai';
import fc from 'fast-check';
import { measureJson } from '../../core/lib/json/json-check.js';
import { hasMember, sliceEntry, sliceMember } from '../../core/lib/json/json-structure.js';

const measureDepth = (json: Uint8Array) => measureJson(json).depth;

const slice = (text: string, name: string) =>
  sliceMember(Buffer.from(text), name)?.toString() ?? null;

describe('sliceEntry', () => {
  const sliceAt = (json: Buffer, path: readonly string[]) =>
    path.reduce<Buffer | null>((value, key) => value && sliceEntry(value, key), json);
  const sliceText = (text: string, path: string) =>
    sliceAt(Buffer.from(text), path.split('.'))?.toString() ?? null;

  it('returns the unchanged bytes at a path', () => {
    const json = '{"a":[ {"b":1.10} , [12345678901234567890, "],"], {}],"\\u0061b":{"\\"":[ ]}}';
    expect(sliceText(json, 'a.0.b')).to.equal('1.10');
    expect(sliceText(json, 'a.1.0')).to.equal('12345678901234567890');
    expect(sliceText(json, 'a.1.1')).to.equal('"],"');
    expect(sliceText(json, 'a.2')).to.equal('{}');
    expect(sliceText(json, 'ab."')).to.equal('[ ]');
  });

  it('returns null where there is nothing', () => {
    const json = '{"a":[1,[ ]],"b":"0:1,2"}';
    for (const path of ['c', 'a.2', 'a.01', 'a.-1', 'a.length', 'a.1.0', 'a.0.0', 'b.0', 'a.b']) {
      expect(sliceText(json, path), path).to.equal(null);
    }
  });

  it('agrees with JSON.parse on every path', () => {
    const key = fc.oneof(fc.constantFrom('0', '1', '2', 'a', '__proto__'), fc.string());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 0 }),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.array(key, { maxLength: 4 }), fc.nat(2), (json, path, indent) => {
        const expected = path.reduce<unknown>((at, name) => readOwn(at, name), json);
        const sliced = sliceAt(Buffer.from(JSON.stringify(json, null, indent)), path);
        if (expected === undefined) expect(sliced).to.equal(null);
        else expect(JSON.stringify(JSON.parse(`${sliced}`))).to.equal(JSON.stringify(expected));
      }),
      { numRuns: 1000 },
    );
  });
});

function readOwn(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  if (Array.isArray(value) && !/^\d+$/.test(name)) return undefined;
  return Reflect.get(value, name);
}

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

  it('counts the members of all objects', () => {
    const count = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 0;
      const own = Array.isArray(value) ? 0 : Object.keys(value).length;
      return Object.values(value).reduce<number>((sum, member) => sum + count(member), own);
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        const { members } = measureJson(Buffer.from(JSON.stringify(value, null, indent)));
        expect(members).to.equal(count(value));
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
