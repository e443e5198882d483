import { expect } from 'chai';
import { LoadShedder } from '../../core/provider/load-shedding.js';
import { failureOf } from '../support/failure-of.js';
import { createFakeModule, hang } from '../support/provider/fake-module.js';

const IN_TIME = { medianMs: 0 };

describe('load shedder', () => {
  it('limits the calls of all modules together', async () => {
    const loadShedder = new LoadShedder({ maxInFlight: 2, shedDelayMs: 250 }, IN_TIME);
    const [first, other] = [createFakeModule({ loadShedder }), createFakeModule({ loadShedder })];
    first.answer(hang);
    other.answer(hang);
    const held = [
      failureOf(first.call({ timeoutMs: 50 })),
      failureOf(other.call({ timeoutMs: 50 })),
    ];
    const refusal = await failureOf(first.call());
    expect(refusal).to.deep.include({
      failure: 'overloaded',
      retryAfterSeconds: 1,
      evidence: { field: 'limit', reason: 'max-in-flight' },
    });
    expect(first.invocations).to.have.length(1);
    await Promise.all(held);
    expect(loadShedder.inFlight).to.equal(0);
    expect(first.client.counts()).to.include({ calls: 2, failed: 2, ended: 2 });
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
