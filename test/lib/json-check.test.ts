import { expect } from 'chai';
import fc from 'fast-check';
import { findInvalidJson } from '../../core/lib/json/json-check.js';
import { INVALID, PIECES, VALID } from '../support/lib/json-texts.js';

function isJson(bytes: Buffer): boolean {
  return findInvalidJson([bytes], bytes.length) === null;
}

function isParsed(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

function expectAgreement(bytes: Buffer): void {
  expect(isJson(bytes), bytes.toString('utf8')).to.equal(isParsed(bytes));
}

/** The text, in Latin-1, and the first byte that cannot be there. */
const INVALID_TEXTS: readonly (readonly [string, number])[] = [
  ['', 0],
  ['  ', 2],
  ['oops', 0],
  ['{"a": 1, "b": x}', 14],
  ['{"a": tru}', 9],
  ['[nul', 4],
  ['[falsy]', 5],
  ['[true', 5],
  ['{"a" 1}', 5],
  ['{"a":1,}', 7],
  ['{a:1}', 1],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['[1}', 2],
  ['{"a":1]', 6],
  ['01', 1],
  ['-', 1],
  ['-a', 1],
  ['1.', 2],
  ['1.e', 2],
  ['1e+', 3],
  ['"abc', 4],
  ['"a\nb"', 2],
  ['"\\x"', 2],
  ['"\\u12g4"', 5],
  ['{} {}', 3],
  ['1\0', 1],
  ['["\xc3\xa9","\xff"]', 7],
  ['["\xe2\x82"]', 2],
  ['"\xf0\x9f\x98', 1],
];

describe('isJson', () => {
  for (const text of VALID) {
    it(`accepts ${JSON.stringify(text)}`, () => {
      expect(isJson(Buffer.from(text))).to.equal(true);
      expectAgreement(Buffer.from(text));
    });
  }

  for (const text of INVALID) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(isJson(Buffer.from(text))).to.equal(false);
      expectAgreement(Buffer.from(text));
    });
  }

  it('accepts deep nesting', () => {
    const depth = 200_000;
    expect(isJson(Buffer.from('['.repeat(depth) + ']'.repeat(depth)))).to.equal(true);
    expect(isJson(Buffer.from('['.repeat(depth) + ']'.repeat(depth - 1)))).to.equal(false);
    expect(isJson(Buffer.from('{"a":'.repeat(depth)))).to.equal(false);
  });

  it('agrees with JSON.parse on valid JSON and on each prefix of it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(), (text, cut) => {
        const bytes = Buffer.from(text);
        expectAgreement(bytes);
        expectAgreement(Buffer.from(text.slice(0, cut % (text.length + 1))));
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with JSON.parse on JSON with one changed byte', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.integer({ min: 0, max: 127 }), (text, at, byte) => {
        const bytes = Buffer.from(text);
        bytes[at % bytes.length] = byte;
        // UTF-8 is validated before JSON.
        if (bytes.equals(Buffer.from(bytes.toString('utf8')))) expectAgreement(bytes);
      }),
      { numRuns: 5000 },
    );
  });

  it('agrees with JSON.parse on strings of any length and alignment', () => {
    const parts = fc.array(fc.constantFrom('a', 'é', '\\n', '\\u00e9', '\\', '"', '\u001f'), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(fc.nat({ max: 70 }), parts, fc.nat({ max: 70 }), (before, middle, after) => {
        const text = `["${'x'.repeat(before)}${middle.join('')}${'y'.repeat(after)}"]`;
        expectAgreement(Buffer.from(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('agrees with JSON.parse on white space of any length', () => {
    const space = fc.array(fc.constantFrom(' ', '\n', '\r', '\t'), { maxLength: 40 });
    const other = fc.constantFrom('', '', '\v', '\f', '\u00a0', '\u0000', '!', '1', ',');
    fc.assert(
      fc.property(space, other, space, space, (before, middle, after, last) => {
        const text = `[1,${before.join('')}${middle}${after.join('')}{"a":${last.join('')}2}]`;
        expectAgreement(Buffer.from(text));
        expectAgreement(Buffer.from(`${before.join('')}1${after.join('')}${middle}`));
      }),
      { numRuns: 5000 },
    );
  });

  it('does not depend on bytes that were checked before', () => {
    expect(isJson(Buffer.from(`"${'x'.repeat(1000)}"`))).to.equal(true);
    expect(isJson(Buffer.from('"'))).to.equal(false);
    expect(isJson(Buffer.from('"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'))).to.equal(false);
    expect(isJson(Buffer.from('[[[[[['))).to.equal(false);
    expect(isJson(Buffer.from('1'))).to.equal(true);
  });

  it('checks pieces as one text', () => {
    fc.assert(
      fc.property(fc.json(), fc.array(fc.nat(), { maxLength: 5 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const ends = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
        const sorted = ends.sort((first, other) => first - other);
        const pieces = sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
        expect(findInvalidJson(pieces, bytes.length)).to.equal(null);
        expect(
          findInvalidJson(pieces.slice(0, -1), bytes.length - (pieces.at(-1)?.length ?? 0)) ===
            null,
        ).to.equal(isParsed(Buffer.concat(pieces.slice(0, -1))));
      }),
      { numRuns: 2000 },
    );
  });

  it('distinguishes invalid UTF-8 from invalid JSON', () => {
    expect(findInvalidJson([Buffer.from('"\xc3"', 'latin1')], 3)).to.deep.equal({
      reason: 'not valid UTF-8',
      at: 1,
    });
    expect(
      findInvalidJson([Buffer.from('"\xc3', 'latin1'), Buffer.from('\xa9"', 'latin1')], 4),
    ).to.equal(null);
    expect(findInvalidJson([Buffer.from('"é')], 3)).to.deep.equal({
      reason: 'not valid JSON',
      at: 3,
    });
  });

  it('names the first byte that cannot be there', () => {
    const placed = INVALID_TEXTS.map(([text]) => {
      const bytes = Buffer.from(text, 'latin1');
      return [text, findInvalidJson([bytes], bytes.length)?.at];
    });
    expect(placed).to.deep.equal(INVALID_TEXTS);
  });

  it('names a place before which every prefix can be completed', () => {
    const change = fc.tuple(fc.json(), fc.nat(), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(change, ([text, place, byte]) => {
        const bytes = Buffer.from(text);
        bytes[place % bytes.length] = byte;
        const invalid = findInvalidJson([bytes], bytes.length);
        if (invalid === null) return;
        expect(invalid.at).to.be.within(place % bytes.length === 0 ? 0 : 1, bytes.length);
        const before = bytes.subarray(0, invalid.at);
        const cut = findInvalidJson([before], before.length);
        expect(cut === null || cut.at === before.length).to.equal(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('checks many megabytes', () => {
    const text = `["${'x'.repeat(20 * 1024 * 1024)}"]`;
    expect(isJson(Buffer.from(text))).to.equal(true);
    expect(isJson(Buffer.from(text.slice(0, -1)))).to.equal(false);
    expect(isJson(Buffer.from('[]'))).to.equal(true);
  });

  it('agrees with JSON.parse on almost valid JSON', () => {
    const nearly = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 });
    fc.assert(
      fc.property(nearly, (pieces) => expectAgreement(Buffer.from(pieces.join('')))),
      { numRuns: 20_000 },
    );
  });
});
