import { expect } from 'chai';
import { createSecretMask } from '../../../core/lib/secrets/mask-secrets.js';

const TOKEN = 'dev-service:a-caller:use';
const LONG = 8000;
const LENGTH = 65_536;
const ROUNDS = 20;
/** Less is too short to be compared. */
const MIN_MS = 2;
/** What the time may grow by where a text grows to twice its length. */
const MAX_RATIO = 2.5;

/** The secrets, and what a text repeats. */
const TEXTS: Readonly<Record<string, readonly [secrets: readonly string[], part: string]>> = {
  'plain text': [[TOKEN], 'words '],
  'a secret again and again': [[TOKEN], TOKEN],
  'encoded bytes': [[TOKEN], '%41'],
  'bytes that are encoded twice': [[TOKEN], '%2541'],
  'percent signs': [[TOKEN], '%'],
  'a run of base64': [[TOKEN], 'QUJD'],
  'short runs of base64': [[TOKEN], 'a='],
  'most of the start of a long secret': [[`b${'a'.repeat(LONG)}`], 'a'],
  'most of a long secret': [[`${'a'.repeat(LONG)}b`], 'a'],
  'the start of many secrets': [
    Array.from({ length: 64 }, (_, index) => `cookie-value-${index}`),
    'cookie-value-',
  ],
};

/** What hostile texts of the greatest length that is searched end with. */
const ENDS = {
  'a run of base64': `${'a'.repeat(1_010)}!`,
  'a run of base64 before encoded bytes': `${'a'.repeat(1_010)}%2525!`,
  'encoded bytes': '%2525'.repeat(204),
  'the start of a secret again and again': TOKEN.slice(0, 12).repeat(85),
};
/** Less is too short to be compared. */
const MIN_END_MS = 0.5;

describe('the mask of secrets', () => {
  for (const [title, text] of Object.entries(ENDS)) {
    it(`costs at most ${MAX_RATIO} times as much for a text that may be cut at ${title}`, () => {
      const mask = createSecretMask([TOKEN, 'a'.repeat(100)]);
      const [whole = 0, cut = 0] = measureFastest([() => mask(text), () => mask(text, true)]);
      expect(cut).to.be.below(MAX_RATIO * Math.max(MIN_END_MS, whole));
    });
  }

  for (const [title, [secrets, part]] of Object.entries(TEXTS)) {
    it(`costs at most ${MAX_RATIO} times as much for twice as much of ${title}`, () => {
      const mask = createSecretMask(secrets);
      const repeat = (length: number) => Buffer.from(part.repeat(length / part.length)).toString();
      const texts = [LENGTH, 2 * LENGTH].map(repeat);
      const [once = 0, twice = 0] = measureFastest(texts.map((text) => () => mask(text)));
      expect(twice).to.be.below(MAX_RATIO * Math.max(MIN_MS, once));
    });
  }
});

/** @returns the shortest time of each of several works that take turns, in milliseconds */
function measureFastest(works: readonly (() => unknown)[]): number[] {
  const fastest = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, work] of works.entries()) {
      const startedAt = performance.now();
      work();
      fastest[index] = Math.min(fastest[index] ?? 0, performance.now() - startedAt);
    }
  }
  return fastest;
}
