import { expect } from 'chai';
import { Bulkhead } from '../../core/provider/bulkhead.js';
import { failureOf } from '../support/provider/fake-module.js';

const LIMITS = { concurrency: 2, queue: 3, queueMs: 5000 };
const patience = () => new AbortController().signal;

describe('module concurrency limit', () => {
  it('admits at most the configured number of concurrent calls', () => {
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

  it('serves queued calls in order of arrival', async () => {
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
    // A new call does not overtake: the slot already belongs to the first call in the queue.
    expect(bulkhead.tryEnter()).to.equal(false);
    await Promise.all(waiting);
    expect(order).to.deep.equal([1, 2, 3]);
    expect(bulkhead).to.include({ inFlight: 0, queued: 0 });
  });

  it('rejects immediately when the queue is full', async () => {
    const bulkhead = new Bulkhead({ ...LIMITS, concurrency: 1, queue: 1 });
    bulkhead.tryEnter();
    const first = bulkhead.wait(patience());
    const failure = await failureOf(bulkhead.wait(patience()));
    expect(failure).to.include({ failure: 'overloaded', retryAfterSeconds: 1 });
    bulkhead.leave();
    await first;
  });

  it('rejects a call after the queue timeout and keeps the slot for the next one', async () => {
    const bulkhead = new Bulkhead({ concurrency: 1, queue: 3, queueMs: 20 });
    bulkhead.tryEnter();
    const from = performance.now();
    expect((await failureOf(bulkhead.wait(patience()))).failure).to.equal('overloaded');
    expect(performance.now() - from).to.be.at.least(18);
    expect(bulkhead).to.include({ inFlight: 1, queued: 0 });
    bulkhead.leave();
    expect(bulkhead.tryEnter()).to.equal(true);
  });

  it('queues no call without a queue or a queue timeout', async () => {
    for (const none of [{ queue: 0 }, { queueMs: 0 }]) {
      const bulkhead = new Bulkhead({ ...LIMITS, concurrency: 1, ...none });
      bulkhead.tryEnter();
      const refused = failureOf(bulkhead.wait(patience()));
      expect(bulkhead.queued).to.equal(0);
      expect((await refused).failure).to.equal('overloaded');
    }
  });

  it('skips a queued call whose client has disconnected', async () => {
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

  it('does not queue a call that is already aborted', async () => {
    const bulkhead = new Bulkhead({ ...LIMITS, concurrency: 1 });
    bulkhead.tryEnter();
    const reason = await bulkhead.wait(AbortSignal.abort('gone')).catch((error: unknown) => error);
    expect(reason).to.equal('gone');
    expect(bulkhead.queued).to.equal(0);
  });
});
