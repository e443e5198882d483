import { expect } from 'chai';
import { RetryBudget } from '../../core/provider/dispatcher.js';

const withdrawAll = (budget: RetryBudget) => {
  let allowed = 0;
  while (allowed < 1000 && budget.withdraw()) allowed += 1;
  return allowed;
};
const deposit = (budget: RetryBudget, calls: number) => {
  for (let call = 0; call < calls; call += 1) budget.deposit();
};

describe('retry budget', () => {
  it('starts with 10 retries, and holds no more', () => {
    expect(withdrawAll(new RetryBudget(0))).to.equal(10);
    const budget = new RetryBudget(0.2);
    deposit(budget, 1000);
    expect(withdrawAll(budget)).to.equal(10);
  });

  for (const share of [0.1, 0.2, 0.5, 1]) {
    it(`allows exactly ${share} of a retry per call once it is empty`, () => {
      const budget = new RetryBudget(share);
      withdrawAll(budget);
      let retries = 0;
      for (let call = 0; call < 100; call += 1) {
        budget.deposit();
        if (budget.withdraw()) retries += 1;
      }
      expect(retries).to.equal(100 * share);
    });
  }

  it('never fills again with a share of 0', () => {
    const budget = new RetryBudget(0);
    withdrawAll(budget);
    deposit(budget, 1000);
    expect(budget.withdraw()).to.equal(false);
  });
});
