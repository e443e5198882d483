import { expect } from 'chai';
import { createLimits, TokenBuckets } from '../../core/lib/token-buckets.js';

describe('token buckets', () => {
  let now = 0;
  const create = (perSecond: number, burst: number, maxKeys = 10) =>
    new TokenBuckets({ perSecond, burst }, maxKeys, () => now);

  beforeEach(() => {
    now = 0;
  });

  it('hold a burst and refill over time', () => {
    const buckets = create(2, 3);
    expect([1, 2, 3].map(() => buckets.take('a'))).to.deep.equal([0, 0, 0]);
    expect(buckets.take('a')).to.equal(500);
    now = 250;
    expect(buckets.take('a')).to.equal(250);
    now = 500;
    expect(buckets.take('a')).to.equal(0);
  });

  it('never hold more than a burst', () => {
    const buckets = create(1000, 2);
    buckets.take('a');
    now = 1_000_000;
    expect([1, 2, 3].map(() => buckets.take('a') > 0)).to.deep.equal([false, false, true]);
  });

  it('are separate by key', () => {
    const buckets = create(1, 1);
    expect(buckets.take('a')).to.equal(0);
    expect(buckets.take('b')).to.equal(0);
    expect(buckets.take('a')).to.equal(1000);
  });

  it('are limited in number', () => {
    const buckets = create(1, 1, 100);
    for (let index = 0; index < 10_000; index += 1) buckets.take(`caller-${index}`);
    expect(buckets.size).to.equal(100);
    expect(buckets.take('caller-9999'), 'the last is remembered').to.equal(1000);
  });

  it('are kept while they are busy, however many others come', () => {
    const buckets = create(1, 1, 100);
    expect(buckets.take('busy')).to.equal(0);
    for (let index = 0; index < 1000; index += 1) {
      buckets.take(`caller-${index}`);
      expect(buckets.take('busy')).to.equal(1000);
    }
  });

  it('default to a burst of one second, and have no limit at rate 0', () => {
    const countBurst = (perSecond: number, burst: number) => {
      const limits = createLimits(perSecond, burst);
      if (limits === null) return null;
      const buckets = new TokenBuckets(limits, 1, () => now);
      let taken = 0;
      while (buckets.take('a') === 0) taken += 1;
      return taken;
    };
    expect(countBurst(0, 5)).to.equal(null);
    expect(countBurst(2.5, 0)).to.equal(3);
    expect(countBurst(0.1, 0)).to.equal(1);
    expect(countBurst(10, 20)).to.equal(20);
  });
});
