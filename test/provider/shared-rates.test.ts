import { expect } from 'chai';
import fc from 'fast-check';
import { DrawnTokens, type TokenGrant } from '../../core/provider/drawn-tokens.js';
import { PrimaryRates } from '../../core/provider/shared-rates.js';

const NEVER = 1e-6;

/** Workers that ask a primary, whose answers arrive in turn. */
function createWorkers(count: number, burst: number, perSecond = NEVER) {
  const primary = new PrimaryRates(count);
  const limits = { perSecond, burst };
  let requests = 0;
  const draw = async (key: string, requested: number): Promise<TokenGrant> => {
    requests += 1;
    await null;
    return primary.answer({ limitId: 'module shop', limits, key, wanted: requested });
  };
  const workers = Array.from({ length: count }, () => new DrawnTokens(limits, draw, () => 0));
  return { workers, asked: () => requests };
}

describe('rates of several workers', () => {
  it('admit what one process would, but for a tenth or one call for each worker', async () => {
    const cases = fc.record({
      count: fc.integer({ min: 1, max: 8 }),
      burst: fc.integer({ min: 1, max: 400 }),
      /** The worker of each request; those between two pauses come at once. */
      requests: fc.array(fc.array(fc.nat(7), { maxLength: 120 }), { maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ count, burst, requests }) => {
        const { workers } = createWorkers(count, burst);
        let admitted = 0;
        for (const together of requests) {
          const waits = together.map((index) => workers[index % count]?.take('actor'));
          for (const waitMs of await Promise.all(waits)) admitted += waitMs === 0 ? 1 : 0;
        }
        const expected = Math.min(burst, requests.flat().length);
        expect(admitted).to.be.at.most(expected);
        expect(admitted).to.be.at.least(expected - Math.max(count, burst * 0.1));
      }),
    );
  });

  it('ask the primary once for the requests that a share covers', async () => {
    const { workers, asked } = createWorkers(2, 1000);
    const [worker] = workers;
    expect(await worker?.take('actor')).to.equal(0);
    for (let count = 0; count < 24; count += 1) expect(worker?.take('actor')).to.equal(0);
    expect(asked()).to.equal(1);
  });

  it('do not retry before a token can exist', async () => {
    const { workers, asked } = createWorkers(2, 1, 1);
    const [first, second] = workers;
    expect(await first?.take('actor')).to.equal(0);
    expect(await second?.take('actor')).to.be.within(1, 1000);
    expect(second?.take('actor')).to.be.within(1, 1000);
    expect(asked()).to.equal(2);
  });

  it('are separate by key', async () => {
    const { workers } = createWorkers(2, 1);
    expect(await workers[0]?.take('a')).to.equal(0);
    expect(await workers[1]?.take('b')).to.equal(0);
    expect(await workers[1]?.take('a')).to.be.above(0);
  });

  it('fail the requests that wait when the primary does not answer, and ask again', async () => {
    let isDown = true;
    const worker = new DrawnTokens({ perSecond: 1, burst: 5 }, async () => {
      if (isDown) throw new Error('no answer');
      return { granted: 1, isAhead: false, level: { remaining: 4, resetMs: 0 } };
    });
    const failed = await Promise.allSettled([worker.take('a'), worker.take('a')]);
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    isDown = false;
    expect(await worker.take('a')).to.equal(0);
  });
});
