import { expect } from 'chai';
import { parseTime } from '../../core/lib/parse-time.js';

describe('parseTime', () => {
  const VALID: readonly (readonly [string, string])[] = [
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31t12:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T23:30:00.25+01:00', '2026-01-31T22:30:00.250Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ];
  for (const [text, time] of VALID) {
    it(`reads ${text}`, () => {
      expect(new Date(parseTime(text)).toISOString()).to.equal(time);
    });
  }

  const INVALID = [
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00+02:00',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31',
    '',
  ];
  for (const text of INVALID) {
    it(`rejects '${text}'`, () => {
      expect(parseTime(text)).to.deep.equal(Number.NaN);
    });
  }
});
