import { expect } from 'chai';
import { importModule } from '../../../plugins/local/import-module.js';

describe('imports of local modules in the thread of the host', () => {
  it('are limited, because Node.js keeps their code', async () => {
    const bytes = Buffer.from('export default () => null;');
    const file = { name: './a.mjs', path: '/nowhere/a.mjs', bytes };
    const error = await importModule(file, 0).catch((reason: Error) => reason);
    expect(error).to.be.instanceOf(Error);
    expect((error as Error).message).to.equal(
      "file './a.mjs' cannot be imported: the host has imported files 0 times: restart it",
    );
  });
});
