import { expect } from 'chai';
import { ADAPTER_CLAUSES } from '../../core/testkit/adapter-clauses.js';
import { runAdapterClauses, startHttpReference } from '../../core/testkit/index.js';
import { cleanUpAfterMutants, MUTANTS } from '../support/testkit/mutants.js';

/** Mutants that hang are waited for this long; a good adapter has ten seconds for each step. */
const PATIENCE_MS = 700;

describe('the clauses of adapterSuite', () => {
  afterEach(cleanUpAfterMutants);

  for (const { clause, what, says, adapter } of MUTANTS) {
    it(`${clause} catches an adapter that ${what}`, async () => {
      const [result, ...others] = await runAdapterClauses(
        { adapter, start: startHttpReference, patienceMs: PATIENCE_MS, cycles: 100 },
        { only: [clause] },
      );
      expect(others).to.deep.equal([]);
      expect(result?.status, `${result?.reason}`).to.equal('fail');
      expect(result?.reason).to.match(says);
    });
  }

  it('have at least one mutant each', () => {
    const caught = new Set(MUTANTS.map(({ clause }) => clause));
    expect(ADAPTER_CLAUSES.map(({ id }) => id).filter((id) => !caught.has(id))).to.deep.equal([]);
  });
});
