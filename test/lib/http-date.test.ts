import { expect } from 'chai';
import { parseHttpDate } from '../../core/lib/http-date.js';

describe('parseHttpDate', () => {
  const { TZ } = process.env;

  before(() => {
    process.env['TZ'] = 'America/New_York';
  });

  after(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });

  for (const [text, time] of [
    ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Wednesday, 21-Oct-26 07:28:00 GMT', '2026-10-21T07:28:00.000Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37.000Z'],
    ['Wed Oct 21 07:28:00 2026', '2026-10-21T07:28:00.000Z'],
  ] as const) {
    it(`reads ${text} in UTC`, () => {
      expect(new Date(parseHttpDate(text) ?? Number.NaN).toISOString()).to.equal(time);
    });
  }

  for (const text of [
    '',
    '0',
    '3600',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 +0100',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    'Sun, 06 Nox 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ]) {
    it(`rejects '${text}'`, () => {
      expect(parseHttpDate(text)).to.equal(null);
    });
  }
});
