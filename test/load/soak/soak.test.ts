import { expect } from 'chai';
import { runSoak } from './run-soak.js';

const SECONDS = 20;

describe('soak test', () => {
  it(`finds no unexplained failure, count or handle in ${SECONDS} s`, async () => {
    const summary = await runSoak({ seconds: SECONDS, connections: 8 });
    const { unexplained, disagreements, grown, left } = summary;
    expect({ unexplained, disagreements, grown, left }).to.deep.equal({
      unexplained: [],
      disagreements: [],
      grown: [],
      left: [],
    });
    expect(summary.requests).to.be.greaterThan(100);
    expect(summary.outcomes).to.include.keys('200', '400', '401', '403', '404', 'aborted');
    expect(summary.faults).to.include.keys('kill -9', 'status 500', 'refuse');
    expect(summary.reloads).to.be.greaterThan(10);
  });
});
