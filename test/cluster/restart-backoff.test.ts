import { expect } from 'chai';
import { WorkerRestartBackoff } from '../../core/cluster/restart-backoff.js';

const SECOND = 1000;

describe('WorkerRestartBackoff', () => {
  const recordExits = (backoff: WorkerRestartBackoff, times: readonly number[]) =>
    times.map((at) => backoff.recordExit(at * SECOND));

  it('has no delay for four exits within a minute, then doubles it', () => {
    expect(
      recordExits(new WorkerRestartBackoff(), [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 65]),
    ).to.deep.equal([0, 0, 0, 0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('keeps the delay while exits continue, and resets it after a minute without one', () => {
    const backoff = new WorkerRestartBackoff();
    recordExits(backoff, [0, 1, 2, 3, 4]);
    expect(recordExits(backoff, [35, 70, 129, 189, 190])).to.deep.equal([2000, 4000, 8000, 0, 0]);
  });

  it('has no delay for rare exits', () => {
    const times = Array.from({ length: 20 }, (_, index) => index * 20);
    expect(new Set(recordExits(new WorkerRestartBackoff(), times))).to.deep.equal(new Set([0]));
  });
});
