import { expect } from 'chai';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { listLoadedFiles } from '../support/loaded-files.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';

const UNREACHABLE = 'postgres://user:hunter2@127.0.0.1:1/none';
const UNAVAILABLE = 'store unavailable: config operations respond with 503';

describe('a host with a database server that cannot be used', () => {
  const setup = useHost(() => ({}), { args: ['--store', UNREACHABLE] });

  it('logs the reason at the start, before any operation needs the store', async () => {
    const find = () => setup.host.logs().find(({ msg }) => msg === UNAVAILABLE);
    await waitUntil('the line', () => find() !== undefined);
    expect(find()).to.include({ level: 'warn', code: 'unreachable' });
    expect(setup.host.output()).to.not.include('hunter2');
  });
});

describe('the code of the store', () => {
  const directory = createFolder();

  const loadsKysely = async (args: readonly string[]) => {
    const loaded = await listLoadedFiles(directory, {}, async (env) => {
      const host = await startHostProcess({ args, env });
      if (args.length > 0) await waitUntil('the store', () => host.output().includes(UNAVAILABLE));
      expect((await host.stop()).code).to.equal(0);
    });
    expect(loaded.some((url) => url.endsWith('/core/compose.js'))).to.equal(true);
    return loaded.some((url) => url.includes('/node_modules/kysely/'));
  };

  it('is not loaded by a host that does not use its store', async () => {
    expect(await loadsKysely([])).to.equal(false);
  });

  it('is loaded by a host that opens its store', async () => {
    expect(await loadsKysely(['--store', UNREACHABLE])).to.equal(true);
  });
});
