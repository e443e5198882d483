import { expect } from 'chai';
import { runAdapterClauses } from '../../../core/testkit/index.js';
import { SHIPPED } from '../../support/testkit/shipped-subjects.js';
import { SLOW_CLAUSES, SLOW_KINDS } from '../../support/testkit/shipped-suite.js';

describe('providers that are opened and closed many times', () => {
  const subjects = SHIPPED.filter(({ adapter }) => SLOW_KINDS.includes(adapter.kind));

  for (const [index, subject] of subjects.entries()) {
    for (const id of SLOW_CLAUSES.filter((id) => subject.except?.[id] === undefined)) {
      it(`conform to ${id}: ${subject.adapter.kind} ${index}`, async () => {
        const results = await runAdapterClauses(subject, { only: [id] });
        expect(results.map(({ status, reason }) => [status, reason])).to.deep.equal([
          ['pass', null],
        ]);
      });
    }
  }

  it('are of every slow kind', () => {
    const kinds = new Set(subjects.map(({ adapter }) => adapter.kind));
    expect([...kinds].toSorted()).to.deep.equal(SLOW_KINDS);
  });
});
