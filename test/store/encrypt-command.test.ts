import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';
import { type Backend, createSqliteBackend } from './backend.js';
import { createKey, readValue, write } from './drafts.js';

describe('modgate encrypt-store', () => {
  let backend: Backend;
  beforeEach(() => {
    backend = createSqliteBackend();
  });
  afterEach(() => backend.dispose());

  const run = (key: string, ...args: readonly string[]) =>
    runModgate(['encrypt-store', '--state', backend.stateDir, ...args], {
      MODGATE_STORE_KEY: key,
    });

  it('encrypts a store that was written without a key', async () => {
    const clear = await backend.open();
    await write(clear, 'api_key', 'hunter2', { sensitive: true });
    await clear.close();
    const key = createKey();
    const first = await run(key);
    expect(first).to.include({ code: 0, stdout: 'encrypted values: 2\n' });
    expect(await readValue(await backend.open(key), 'crm/api_key')).to.equal('hunter2');
    expect(await run(key, '--json')).to.include({ code: 0, stdout: '{"encrypted":0}\n' });
  });

  it('rejects a missing key and a missing store', async () => {
    const withoutKey = await run('');
    expect(withoutKey.code).to.equal(2);
    expect(withoutKey.stderr).to.include('set MODGATE_STORE_KEY to the key of the store');
    const withoutStore = await run(createKey());
    expect(withoutStore.code).to.equal(1);
    expect(withoutStore.stderr).to.include('there is no store');
  });
});
