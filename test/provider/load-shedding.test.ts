import { expect } from 'chai';
import { EventLoopDelay } from '../../core/provider/event-loop-delay.js';
import { LoadShedder } from '../../core/provider/load-shedding.js';
import { failureOf } from '../support/failure-of.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFakeModule, hang } from '../support/provider/fake-module.js';

const IN_TIME = { medianMs: 0 };

describe('load shedder', () => {
  it('limits the calls of all modules together', async () => {
    const loadShedder = new LoadShedder({ maxInFlight: 2, shedDelayMs: 250 }, IN_TIME);
    const [one, other] = [createFakeModule({ loadShedder }), createFakeModule({ loadShedder })];
    one.answer(hang);
    other.answer(hang);
    const held = [failureOf(one.call({ timeoutMs: 50 })), failureOf(other.call({ timeoutMs: 50 }))];
    const refusal = await failureOf(one.call());
    expect(refusal).to.deep.include({
      failure: 'overloaded',
      retryAfterSeconds: 1,
      evidence: { field: 'limit', reason: 'max-in-flight' },
    });
    expect(one.invocations).to.have.length(1);
    await Promise.all(held);
    expect(loadShedder.inFlight).to.equal(0);
    expect(one.client.counts()).to.include({ calls: 2, failed: 2, ended: 2 });
  });

  it('counts queued calls', async () => {
    const loadShedder = new LoadShedder({ maxInFlight: 2, shedDelayMs: 250 }, IN_TIME);
    const module = createFakeModule({ loadShedder, limits: { concurrency: 1 }, invoke: hang });
    const calls = [1, 2].map(() => failureOf(module.call({ timeoutMs: 40 })));
    const refusal = await failureOf(module.call());
    expect(refusal).to.deep.include({ evidence: { field: 'limit', reason: 'max-in-flight' } });
    await Promise.all(calls);
    expect(loadShedder.inFlight).to.equal(0);
  });

  it('rejects calls while the event loop delay is over the limit', async () => {
    const delay = { medianMs: 250 };
    const loadShedder = new LoadShedder({ maxInFlight: 10, shedDelayMs: 250 }, delay);
    const module = createFakeModule({ loadShedder });
    await module.call();
    delay.medianMs = 251;
    const refusal = await failureOf(module.call());
    expect(refusal).to.deep.include({
      failure: 'overloaded',
      evidence: { field: 'limit', reason: 'shed-delay-ms' },
    });
    expect(module.invocations).to.have.length(1);
    expect(module.client.endpoints()[0]).to.include({ state: 'up', failures: 0 });
    delay.medianMs = 0;
    await module.call();
  });
});

describe('event loop delay', () => {
  let delay: EventLoopDelay | undefined;
  let hog: NodeJS.Immediate | undefined;

  afterEach(() => {
    clearImmediate(hog);
    delay?.close();
  });

  const block = (ms: number) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };

  const waitForTicks = () => new Promise((resolve) => setTimeout(resolve, 200));

  it('grows while the loop is always late, and falls afterwards', async () => {
    const measured = new EventLoopDelay();
    delay = measured;
    expect(measured.medianMs).to.equal(0);
    const keepBusy = () => {
      block(60);
      hog = setImmediate(keepBusy);
    };
    keepBusy();
    await waitUntil('a late loop', () => measured.medianMs > 30);
    clearImmediate(hog);
    await waitUntil('a loop in time', () => measured.medianMs < 10);
  });

  it('returns quantiles since the last read, including the longest pause', async () => {
    const measured = new EventLoopDelay();
    delay = measured;
    expect(measured.readQuantiles([0.5, 1])).to.deep.equal([0, 0]);
    await waitForTicks();
    block(400);
    await waitForTicks();
    const [median, longest] = measured.readQuantiles([0.5, 1]) as [number, number];
    expect(median).to.be.below(0.3);
    expect(longest).to.be.within(0.3, 5);
    await waitForTicks();
    expect(measured.readQuantiles([1])[0]).to.be.below(0.3);
  });

  it('does not grow with one long pause, even if it fills a window', async () => {
    const measured = new EventLoopDelay();
    delay = measured;
    // After a reset the histogram needs one tick (20 ms) before it records anything.
    const windowIsOver = performance.now() + 500 + 30;
    while (performance.now() < windowIsOver) await new Promise(setImmediate);
    block(1200);
    let most = 0;
    const end = performance.now() + 1600;
    await waitUntil('three windows', () => {
      most = Math.max(most, measured.medianMs);
      return performance.now() > end;
    });
    expect(most).to.be.below(100);
  });
});
