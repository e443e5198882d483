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

describe('the mask of secrets', () => {
  for (const [title, [secrets, part]] of Object.entries(TEXTS)) {
    it(`costs at most ${MAX_RATIO} times as much for twice as much of ${title}`, () => {
      const mask = createSecretMask(secrets);
      const repeat = (length: number) => Buffer.from(part.repeat(length / part.length)).toString();
      const texts = [LENGTH, 2 * LENGTH].map(repeat);
      const fastest = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, text] of texts.entries()) {
          const startedAt = performance.now();
          mask(text);
          fastest[index] = Math.min(fastest[index] ?? 0, performance.now() - startedAt);
        }
      }
      const [once = 0, twice = 0] = fastest;
      expect(twice).to.be.below(MAX_RATIO * Math.max(MIN_MS, once));
    });
  }
});
