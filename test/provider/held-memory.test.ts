import { expect } from 'chai';
import { Bulkhead } from '../../core/provider/bulkhead.js';
import { HeldMemory } from '../../core/provider/held-memory.js';
import { MemoryBudget } from '../../core/provider/memory-budget.js';

const ONE_MIB = 1_048_576;

describe('the resources of a request', () => {
  const begin = (places: Bulkhead) => {
    const budget = { memoryBudget: ONE_MIB, actorBudget: null, workers: null };
    const held = new HeldMemory(new MemoryBudget(budget));
    held.identify('service:a');
    expect(places.enter('service:a')).to.equal(true);
    held.keepPlace(places, 'service:a');
    return held;
  };

  it('count as being sent once, where a stream is followed by a Problem', () => {
    const places = new Bulkhead(4, 0);
    for (let call = 0; call < 10; call += 1) {
      const held = begin(places);
      held.beginSending();
      held.beginSending();
      expect([places.running, places.sending]).to.deep.equal([1, 1]);
      held.close();
      expect([places.running, places.sending]).to.deep.equal([0, 0]);
    }
  });

  it('release the place above a share once', () => {
    const places = new Bulkhead(4, 0);
    const [first, second] = [begin(places), begin(places)];
    for (const held of [first, second, second, first]) held.beginSending();
    expect([places.running, places.sending]).to.deep.equal([1, 2]);
    second.close();
    expect([places.running, places.sending]).to.deep.equal([1, 1]);
    first.close();
    expect([places.running, places.sending]).to.deep.equal([0, 0]);
  });
});
