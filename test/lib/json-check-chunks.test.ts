import { expect } from 'chai';
import fc from 'fast-check';
import {
  findInvalidJson,
  findInvalidJsonInSlices,
  type InvalidJson,
  JsonCheck,
  MAX_PART_BYTES,
} from '../../core/lib/json/json-check.js';
import { INVALID, PIECES, VALID } from '../support/lib/json-texts.js';

const LEVELS = 524_288;

/** @param cuts where chunks end, in any order */
function checkInChunks(bytes: Buffer, cuts: readonly number[]): InvalidJson | null {
  const check = new JsonCheck();
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let start = 0;
  for (const end of ends) {
    const invalid = check.add(bytes.subarray(start, end));
    if (invalid !== null) return invalid;
    start = end;
  }
  return check.end();
}

function checkByteByByte(bytes: Buffer): InvalidJson | null {
  return checkInChunks(
    bytes,
    Array.from(bytes, (_, index) => index),
  );
}

describe('JsonCheck', () => {
  const cuts = fc.array(fc.nat(), { maxLength: 6 });
  const random = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 12 })
    .map((parts) => parts.join(''));

  it('has the same result for single bytes as for the whole text', () => {
    for (const text of [...VALID, ...INVALID]) {
      const bytes = Buffer.from(text);
      const whole = findInvalidJson([bytes], bytes.length);
      expect(checkByteByByte(bytes), text).to.deep.equal(whole);
    }
  });

  it('has the same result for any valid text in any chunks, and for its start', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), cuts, fc.nat(), (text, where, length) => {
        const bytes = Buffer.from(text);
        expect(checkInChunks(bytes, where)).to.equal(null);
        const start = bytes.subarray(0, length % (bytes.length + 1));
        const whole = findInvalidJson([start], start.length);
        if (whole?.reason !== 'not valid UTF-8') {
          expect(checkInChunks(start, where)).to.deep.equal(whole);
        } else expect(checkInChunks(start, where)).not.to.equal(null);
      }),
      { numRuns: 3000 },
    );
  });

  it('has the same result for texts that are nearly JSON, and for texts with one changed byte', () => {
    fc.assert(
      fc.property(
        fc.oneof(random, fc.json()),
        cuts,
        fc.nat(),
        fc.nat(255),
        (text, where, at, byte) => {
          const plain = Buffer.from(text);
          const changed = Buffer.from(text);
          if (changed.length > 0) changed[at % changed.length] = byte;
          for (const bytes of [plain, changed]) {
            const whole = findInvalidJson([bytes], bytes.length);
            const inChunks = checkInChunks(bytes, where);
            if (whole?.reason === 'not valid UTF-8') expect(inChunks).not.to.equal(null);
            else expect(inChunks, text).to.deep.equal(whole);
            expect(checkByteByByte(bytes) === null, text).to.equal(whole === null);
          }
        },
      ),
      { numRuns: 10_000 },
    );
  });

  it('has the same result for long numbers, strings and white space', () => {
    for (const part of ['1'.repeat(40), '0'.repeat(40), 'x'.repeat(40), ' '.repeat(40)]) {
      for (const text of [
        `[${part}]`,
        `["${part}"]`,
        `-${part}.${part}e-${part}`,
        `{"${part}":1}`,
      ]) {
        const bytes = Buffer.from(text);
        const whole = findInvalidJson([bytes], bytes.length);
        expect(checkByteByByte(bytes), text).to.deep.equal(whole);
        for (let size = 2; size < 40; size += 1) {
          const where = Array.from({ length: bytes.length / size }, (_, index) => index * size);
          expect(checkInChunks(bytes, where), text).to.deep.equal(whole);
        }
      }
    }
  });

  it('keeps texts apart whose chunks take turns', () => {
    const texts = VALID.map((text) => ({ bytes: Buffer.from(text), check: new JsonCheck() }));
    for (let at = 0; at < 40; at += 1) {
      for (const { bytes, check } of texts) {
        expect(check.add(bytes.subarray(at, at + 1))).to.equal(null);
      }
    }
    for (const { check } of texts) expect(check.end()).to.equal(null);
  });

  it('accepts 524,288 levels whole and in chunks, and rejects one more', async () => {
    const tooDeep = `nested deeper than ${LEVELS} levels`;
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      for (const [levels, reason] of [
        [LEVELS, undefined],
        [LEVELS + 1, tooDeep],
      ] as const) {
        const bytes = Buffer.from(`${open.repeat(levels)}1${close.repeat(levels)}`);
        expect(findInvalidJson([bytes], bytes.length)?.reason).to.equal(reason);
        expect((await findInvalidJsonInSlices([bytes]))?.reason).to.equal(reason);
        for (const where of [[], [levels], [levels - 1, levels + 1], [7, 65_543, 131_079]]) {
          expect(checkInChunks(bytes, where)?.reason).to.equal(reason);
        }
      }
    }
  });

  it('closes brackets of many chunks before', () => {
    for (const size of [1, 3, 64, 1000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
        ['[{"a":[', ']}]'],
      ] as const) {
        const bytes = Buffer.from(`${open.repeat(900)}1${close.repeat(900)}`);
        const where = Array.from({ length: bytes.length / size }, (_, index) => index * size);
        expect(checkInChunks(bytes, where)).to.equal(null);
        const wrong = Buffer.from(`${bytes}`.slice(0, -1) + (close.endsWith(']') ? '}' : ']'));
        expect(checkInChunks(wrong, where)).to.deep.equal(findInvalidJson([wrong], wrong.length));
      }
    }
  });

  it('has the same result for long texts in slices, also for deep ones', async () => {
    const half = MAX_PART_BYTES + 7;
    const texts = {
      deep: `${' '.repeat(half)}${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`,
      'deep objects': `${'{"a":['.repeat(half / 5)}1${']}'.repeat(half / 5)}`,
      'deep, and open': ' '.repeat(half) + '['.repeat(LEVELS),
      'deep, with a wrong end': `${' '.repeat(half)}${'['.repeat(LEVELS)}${']'.repeat(LEVELS - 1)}}`,
      'closed too often': `${' '.repeat(half)}${'['.repeat(LEVELS)}${']'.repeat(LEVELS + 1)}`,
      wide: `[${'{"a":[1,"é"]},'.repeat(half / 10)}0]`,
      'wide, and open': `[${'1,'.repeat(half)}`,
      'one string': `"${'é'.repeat(half)}"`,
      'one number': '1'.repeat(2 * half),
    };
    for (const [title, text] of Object.entries(texts)) {
      const bytes = Buffer.from(text);
      const whole = findInvalidJson([bytes], bytes.length);
      expect(await findInvalidJsonInSlices([bytes]), title).to.deep.equal(whole);
      const pieces = [bytes.subarray(0, half), bytes.subarray(half)];
      expect(await findInvalidJsonInSlices(pieces), title).to.deep.equal(whole);
    }
    const notText = Buffer.concat([Buffer.from(`"${'a'.repeat(half)}`), Buffer.from([0xff])]);
    expect(await findInvalidJsonInSlices([notText])).to.include({ reason: 'not valid UTF-8' });
  });

  it('accepts chunks of any size', () => {
    const text = Buffer.from(`["${'é'.repeat(3 * 1_048_576)}"]`);
    expect(checkInChunks(text, [])).to.equal(null);
    expect(checkInChunks(text.subarray(0, -1), [1_048_575])).to.include({ at: text.length - 1 });
  });
});
