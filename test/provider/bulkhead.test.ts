import { expect } from 'chai';
import { Bulkhead } from '../../core/provider/bulkhead.js';
import { failureOf } from '../support/provider/fake-module.js';

const LIMITS = { concurrency: 2, queue: 3, queueMs: 5000 };
const patience = () => new AbortController().signal;

describe('the concurrency limit of a module', () => {
  it('lets so many in at a time', () => {
    const bulkhead = new Bulkhead(LIMITS);
    expect([bulkhead.tryEnter(), bulkhead.tryEnter(), bulkhead.tryEnter()]).to.deep.equal([
      true,
      true,
      false,
    ]);
    bulkhead.leave();
    expect(bulkhead.inFlight).to.equal(1);
    expect(bulkhead.tryEnter()).to.equal(true);
  });

  it('serves those who wait in the order in which they came', async () => {
    const bulkhead = new Bulkhead({ ...LIMITS, concurrency: 1 });
    bulkhead.tryEnter();
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (caller) => {
      await bulkhead.wait(patience());
      order.push(caller);
      bulkhead.leave();
    });
    expect(bulkhead.queued).to.equal(3);
    bulkhead.leave();
    // A newcomer does not overtake: the place already belongs to the first who waited.
    expect(bulkhead.tryEnter()).to.equal(false);
    await Promise.all(waiting);
    expect(order).to.deep.equal([1, 2, 3]);
    expect(bulkhead).to.include({ inFlight: 0, queued: 0 });
  });

  it('refuses at once when the queue is full', async () => {
    const bulkhead = new Bulkhead({ ...LIMITS, concurrency: 1, queue: 1 });
    bulkhead.tryEnter();
    const first = bulkhead.wait(patience());
    const failure = await failureOf(bulkhead.wait(patience()));
    expect(failure).to.include({ failure: 'overloaded', retryAfterSeconds: 1 });
    bulkhead.leave();
    await first;
  });

  it('refuses who gets no place in time, and keeps the place for the next', async () => {
    const bulkhead = new Bulkhead({ concurrency: 1, queue: 3, queueMs: 20 });
    bulkhead.tryEnter();
    const from = performance.now();
    expect((await failureOf(bulkhead.wait(patience()))).failure).to.equal('overloaded');
    expect(performance.now() - from).to.be.at.least(18);
    expect(bulkhead).to.include({ inFlight: 1, queued: 0 });
    bulkhead.leave();
    expect(bulkhead.tryEnter()).to.equal(true);
  });

  it('lets nobody wait where there is no queue, or no time', async () => {
    for (const none of [{ queue: 0 }, { queueMs: 0 }]) {
      const bulkhead = new Bulkhead({ ...LIMITS, concurrency: 1, ...none });
      bulkhead.tryEnter();
      const refused = failureOf(bulkhead.wait(patience()));
      expect(bulkhead.queued).to.equal(0);
      expect((await refused).failure).to.equal('overloaded');
    }
  });

  it('forgets who has gone, whose turn then is the next one', async () => {
    const bulkhead = new Bulkhead({ ...LIMITS, concurrency: 1 });
    bulkhead.tryEnter();
    const caller = new AbortController();
    const gone = bulkhead.wait(caller.signal).catch((reason: unknown) => reason);
    const patient = bulkhead.wait(patience());
    caller.abort('gone');
    expect(await gone).to.equal('gone');
    bulkhead.leave();
    await patient;
    expect(bulkhead).to.include({ inFlight: 1, queued: 0 });
  });

  it('does not queue who had gone before', async () => {
    const bulkhead = new Bulkhead({ ...LIMITS, concurrency: 1 });
    bulkhead.tryEnter();
    const reason = await bulkhead.wait(AbortSignal.abort('gone')).catch((error: unknown) => error);
    expect(reason).to.equal('gone');
    expect(bulkhead.queued).to.equal(0);
  });
});
