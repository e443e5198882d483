import { expect } from 'chai';
import { attributeByStack, findShippedOwner } from '../../core/isolation/shipped-code.js';

describe('an uncaught error of shipped code', () => {
  const first = { report: () => {} };
  const second = { report: () => {} };
  const throwIn = (...files: readonly string[]) =>
    Object.assign(new Error('thrown'), {
      stack: ['Error: thrown', ...files.map((file) => `    at f (${file}:1:1)`)].join('\n'),
    });

  before(() => {
    attributeByStack('/app/plugins/first', first);
    attributeByStack('/app/plugins/second', second);
  });

  it('belongs to the plugin on the stack, also where code of several threw', () => {
    const error = throwIn('/app/plugins/shared/chunk-A.js', '/app/plugins/second/index.js');
    expect(findShippedOwner(error)).to.equal(second);
  });

  it('belongs to a plugin where only code that plugins share is on the stack', () => {
    expect(findShippedOwner(throwIn('/app/plugins/shared/chunk-A.js'))).to.be.an('object');
  });

  it('belongs to no plugin without code of one on the stack', () => {
    expect(findShippedOwner(throwIn('/app/core/compose.js'))).to.equal(null);
  });
});
