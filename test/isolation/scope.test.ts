import { expect } from 'chai';
import { ModuleScope } from '../../core/isolation/scope.js';
import { createFakeLog } from '../../core/testkit/fakes/fake-log.js';

describe('scope of a module', () => {
  it('has at most 100,000 cleanups', async () => {
    const scope = new ModuleScope(createFakeLog());
    let ran = 0;
    const cleanup = () => {
      ran += 1;
    };
    for (let count = 0; count < 100_000; count += 1) scope.defer(cleanup);
    expect(() => scope.defer(cleanup)).to.throw('at most 100000 cleanups');
    await scope.close();
    expect(ran).to.equal(100_000);
  });
});
