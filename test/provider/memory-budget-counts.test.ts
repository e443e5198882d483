import { expect } from 'chai';
import { HeldMemory } from '../../core/provider/held-memory.js';
import { MemoryBudget } from '../../core/provider/memory-budget.js';

const LIMITS = { memoryBudget: 1_000_000, actorBudget: 100_000, workers: null };

/** A request of an actor. */
function begin(budget: MemoryBudget, actor: string | null): HeldMemory {
  const held = new HeldMemory(budget);
  if (actor !== null) held.identify(actor);
  return held;
}

describe('counts of the memory budget', () => {
  it('are divided by the workers', () => {
    const whole = { ...LIMITS, workers: 4 };
    expect(new MemoryBudget(whole).maxBytes).to.equal(250_000);
    const budget = new MemoryBudget(whole);
    const [first, other] = [begin(budget, 'a'), begin(budget, 'a')];
    expect(first.hold(25_000)).to.equal(null);
    expect(other.hold(1)?.evidence.reason).to.equal('actor-budget');
  });

  it('allow an actor a quarter by default', () => {
    const budget = new MemoryBudget({ ...LIMITS, actorBudget: null });
    const [first, other] = [begin(budget, 'a'), begin(budget, 'a')];
    expect(first.hold(250_000)).to.equal(null);
    expect(other.hold(1)?.evidence.reason).to.equal('actor-budget');
    other.close();
    expect(first.hold(1)).to.equal(null);
  });

  it('have a budget of their own for anonymous clients, with a part for each network', () => {
    const budget = new MemoryBudget({ ...LIMITS, memoryBudget: 32_000_000 });
    const requests = ['a', 'a', 'b', 'b', 'c'].map((network) => {
      const held = new HeldMemory(budget);
      held.identifyAnonymous(network);
      return held;
    });
    const hold = (index: number, bytes: number) =>
      requests[index]?.hold(bytes)?.evidence.reason ?? null;
    expect(hold(0, 500_000)).to.equal(null);
    expect(hold(1, 1)).to.equal('address-budget');
    expect(hold(2, 500_000)).to.equal(null);
    expect(hold(4, 1_000_001)).to.equal('anonymous-budget');
    expect(hold(4, 1_000_000)).to.equal(null);
    expect(budget.bytes).to.equal(0);
    expect(budget.anonymous?.bytes).to.equal(2_000_000);
    for (const held of requests) held.close();
    expect(budget.anonymous?.bytes).to.equal(0);
  });

  it('return to 0 when all requests are over', () => {
    const budget = new MemoryBudget(LIMITS);
    const requests = ['a', 'a', 'b', null].map((actor) => begin(budget, actor));
    for (const held of requests) {
      held.hold(2000);
      held.drop(500);
      held.hold(20);
      held.keepOnly(7000);
    }
    expect(budget.bytes).to.equal(28_000);
    for (const held of requests) {
      held.close();
      held.close();
      expect(held.hold(1000)).to.equal(null);
      held.keepOnly(5);
      held.drop(5);
    }
    expect(budget.bytes).to.equal(0);
  });

  it('do not include what was rejected', () => {
    const budget = new MemoryBudget(LIMITS);
    const held = begin(budget, null);
    expect(held.hold(1_000_001)?.evidence.reason).to.equal('memory-budget');
    expect(budget.bytes).to.equal(0);
    expect(budget.rejected).to.deep.equal({ memory: 1, actor: 0 });
    expect(held.hold(1_000_001, true)).to.equal(null);
  });
});
