import { expect } from 'chai';
import { RequestCounts } from '../../../core/observability/metrics/request-counts.js';
import { createEnded } from '../../support/observability/completed.js';

describe('counts of requests', () => {
  it('are kept for at most 20,000 modules', () => {
    const counts = new RequestCounts();
    for (let id = 0; id <= 20_000; id += 1) {
      const ended = createEnded(id);
      ended.facts.module = `m-${id}`;
      counts.count(ended);
    }
    const modules = [...counts.modules()].map(([module]) => module);
    expect(modules).to.have.length(20_000);
    expect(modules[0]).to.equal('m-1');
    expect(modules.at(-1)).to.equal('m-20000');
  });
});
