import { expect } from 'chai';
import type { Plugin } from '../../core/contract/index.js';

describe('the type Plugin', () => {
  it('requires neither adapters nor authenticators', () => {
    // The compiler checks each literal.
    const plugins: readonly Plugin[] = [{}, { authenticators: [] }, { adapters: [] }];
    expect(plugins).to.have.length(3);
  });
});
