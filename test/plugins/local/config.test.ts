import { expect } from 'chai';
import { localAdapter } from '../../../plugins/local/local-adapter.js';

describe('config of the local adapter', () => {
  const isValid = (config: unknown) => localAdapter.config.is(config);

  it('accepts a file and the options of a thread', () => {
    const env = { TOKEN: 'env:CRM_TOKEN', MODE: 'fast', EMPTY: '' };
    for (const good of [
      {},
      { isolation: 'none' },
      { isolation: 'worker', memory_mb: 16 },
      { memory_mb: 16_384, env },
    ]) {
      expect(isValid({ file: './a.mjs', ...good }), JSON.stringify(good)).to.equal(true);
    }
  });

  it('rejects everything else', () => {
    for (const bad of [undefined, {}, { file: '' }, { file: 'env:CODE' }]) {
      expect(isValid(bad)).to.equal(false);
    }
    for (const bad of [
      { x: 1 },
      { isolation: 'process' },
      { memory_mb: 15 },
      { memory_mb: 16_385 },
      { memory_mb: '64' },
      { isolation: 'none', memory_mb: 64 },
      { isolation: 'none', env: {} },
      { env: { 'A-B': 'x' } },
      { env: { MODGATE_TOKEN: 'x' } },
      { env: { A: 1 } },
    ]) {
      expect(isValid({ file: './a.mjs', ...bad }), JSON.stringify(bad)).to.equal(false);
    }
  });
});
