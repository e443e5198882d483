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
    expect(first.reserve(25_000)).to.equal(null);
    expect(other.reserve(1)?.evidence.reason).to.equal('actor-budget');
  });

  it('allow an actor a quarter by default', () => {
    const budget = new MemoryBudget({ ...LIMITS, actorBudget: null });
    const [first, other] = [begin(budget, 'a'), begin(budget, 'a')];
    expect(first.reserve(250_000)).to.equal(null);
    expect(other.reserve(1)?.evidence.reason).to.equal('actor-budget');
    other.close();
    expect(first.reserve(1)).to.equal(null);
  });

  it('have a budget of their own for anonymous clients, with a part for each network', () => {
    const budget = new MemoryBudget({ ...LIMITS, memoryBudget: 32_000_000 });
    const requests = ['a', 'a', 'b', 'b', 'c'].map((network) => {
      const held = new HeldMemory(budget);
      held.identifyAnonymous(network);
      return held;
    });
    const hold = (index: number, bytes: number) =>
      requests[index]?.reserve(bytes)?.evidence.reason ?? null;
    expect(hold(0, 2_000_000)).to.equal(null);
    expect(hold(1, 1)).to.equal('address-budget');
    expect(hold(2, 2_000_000)).to.equal(null);
    expect(hold(4, 4_000_001)).to.equal('anonymous-budget');
    expect(hold(4, 4_000_000)).to.equal(null);
    expect(budget.bytes).to.equal(0);
    expect(budget.anonymous?.bytes).to.equal(8_000_000);
    for (const held of requests) held.close();
    expect(budget.anonymous?.bytes).to.equal(0);
  });

  it('have a reserve for sign-ins, which forwarded calls do not use', () => {
    const budget = new MemoryBudget({ ...LIMITS, memoryBudget: 32_000_000 });
    const begin = (network: string, isSignIn: boolean) => {
      const held = new HeldMemory(budget);
      held.identifyAnonymous(network, isSignIn);
      return held;
    };
    const hold = (held: HeldMemory, bytes: number) => held.reserve(bytes)?.evidence.reason ?? null;
    for (const network of ['a', 'b', 'c', 'd']) {
      expect(hold(begin(network, false), 2_000_000)).to.equal(null);
    }
    expect(hold(begin('a', false), 1)).to.equal('anonymous-budget');
    expect(hold(begin('a', true), 1_048_576)).to.equal(null);
    const last = begin('a', true);
    expect(hold(last, 1)).to.equal('anonymous-budget');
    expect(last.keepOnly(1)?.evidence.reason).to.equal('anonymous-budget');
  });

  it('keep what they have when more is refused', () => {
    const budget = new MemoryBudget(LIMITS);
    const [first, other] = [begin(budget, 'a'), begin(budget, 'a')];
    expect(first.keepOnly(65_536)).to.equal(null);
    expect(other.keepOnly(65_536)?.evidence.reason).to.equal('actor-budget');
    expect([first.bytes, other.bytes]).to.deep.equal([65_536, 0]);
    expect(other.checkRoom()?.evidence.reason).to.equal('actor-budget');
    expect(first.keepOnly(0)).to.equal(null);
    expect(other.checkRoom()).to.equal(null);
    expect(budget.bytes).to.equal(0);
  });

  it('return to 0 when all requests are over', () => {
    const budget = new MemoryBudget(LIMITS);
    const requests = ['a', 'a', 'b', null].map((actor) => begin(budget, actor));
    for (const held of requests) {
      held.reserve(2000);
      held.release(500);
      held.reserve(20);
      held.keepOnly(7000);
    }
    expect(budget.bytes).to.equal(28_000);
    for (const held of requests) {
      held.close();
      held.close();
      expect(held.reserve(1000)).to.equal(null);
      held.keepOnly(5);
      held.release(5);
    }
    expect(budget.bytes).to.equal(0);
  });

  it('do not include what was rejected', () => {
    const budget = new MemoryBudget(LIMITS);
    const held = begin(budget, null);
    expect(held.reserve(1_000_001)?.evidence.reason).to.equal('memory-budget');
    expect(budget.bytes).to.equal(0);
    expect(budget.rejected).to.deep.equal({ memory: 1, actor: 0 });
    expect(held.reserve(1_000_001, true)).to.equal(null);
  });
});
