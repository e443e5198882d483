import { expect } from 'chai';
import { toTime } from '../../../plugins/console/page/ui/format-time.js';

const TIME = '2026-01-31T12:00:00.000Z';
const MS = Date.parse(TIME);

describe('a time of a provider', () => {
  for (const value of [
    TIME,
    '2026-01-31T13:00:00+01:00',
    MS,
    MS / 1000,
    MS * 1000,
    MS * 1_000_000,
    String(MS),
    String(MS / 1000),
  ]) {
    it(`is read from ${JSON.stringify(value)}`, () => {
      expect(toTime(value)?.toISOString()).to.equal(TIME);
    });
  }

  it('may be before 1970, or have a fraction of a second', () => {
    expect(toTime(-86_400)?.toISOString()).to.equal('1969-12-31T00:00:00.000Z');
    expect(toTime(0)?.toISOString()).to.equal('1970-01-01T00:00:00.000Z');
    expect(toTime(MS / 1000 + 0.25)?.toISOString()).to.equal('2026-01-31T12:00:00.250Z');
  });

  it('may be written as in HTTP and as databases write it', () => {
    for (const text of ['Sat, 31 Jan 2026 12:00:00 GMT', '2026-01-31 12:00:00+00:00']) {
      expect(toTime(text)?.toISOString(), text).to.equal(TIME);
    }
  });

  for (const value of [
    ...['', 'soon', '20260131', '2026', '2026-01-31', '2026-01-31 12:00:00', '2026-01-31T12:00:00'],
    ...['31.01.2026', '12:00', Number.NaN, Number.POSITIVE_INFINITY],
  ]) {
    it(`is not read from ${JSON.stringify(value)}, which is shown as it is`, () => {
      expect(toTime(value)).to.equal(null);
    });
  }
});
