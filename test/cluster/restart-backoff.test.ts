import { expect } from 'chai';
import { RestartBackoff } from '../../core/cluster/restart-backoff.js';

const SECOND = 1000;

describe('RestartPace', () => {
  const countDeaths = (pace: RestartBackoff, times: readonly number[]) =>
    times.map((at) => pace.recordExit(at * SECOND));

  it('replaces at once up to the fourth death in a minute, then later each time', () => {
    expect(countDeaths(new RestartBackoff(), [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 65])).to.deep.equal([
      0, 0, 0, 0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
    ]);
  });

  it('stays slow while deaths go on, and is quick again after a minute without one', () => {
    const pace = new RestartBackoff();
    countDeaths(pace, [0, 1, 2, 3, 4]);
    expect(countDeaths(pace, [35, 70, 129, 189, 190])).to.deep.equal([2000, 4000, 8000, 0, 0]);
  });

  it('does not mind deaths that are rare', () => {
    const times = Array.from({ length: 20 }, (_, index) => index * 20);
    expect(new Set(countDeaths(new RestartBackoff(), times))).to.deep.equal(new Set([0]));
  });
});
