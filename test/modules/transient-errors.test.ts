import { readdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { canLimitProcesses, limitProcess } from '../support/chaos/process-limits.js';
import { waitUntil } from '../support/http/wait-until.js';
import { callItems, describeItems } from '../support/provider/routes.js';
import { answerJson, startProvider } from '../support/provider.js';
import { type RunningHost, startHost, startHostProcess } from '../support/start-host.js';
import { use } from '../support/use.js';

const MODULES = Array.from({ length: 12 }, (_, index) => `m${index}`);
/** A regular file whose reads fail with EIO. */
const BROKEN = '/proc/self/mem';

describe('a file that cannot be read for a passing reason', () => {
  let host: RunningHost;

  const describeWith = (module: string, overrides: object = {}) => {
    const header = { name: 'x-key', value: `file:keys/${module}` };
    return describeItems(module, { endpoints: [provider.url], auth: { header } }, overrides);
  };
  const keyOf = async (module: string) => {
    const { status } = await callItems(host, module);
    expect(status).to.equal(200);
    return provider.requests.at(-1)?.headers['x-key'];
  };
  const serveKey = (module: string, key: string) =>
    waitUntil(`${module} to send ${key}`, async () => (await keyOf(module)) === key);
  const statesLogged = () =>
    host.logs().flatMap(({ msg, state }) => (msg === 'module changed' ? [state] : []));

  const provider = use(() => startProvider(answerJson({})));

  const describeFiles = () => {
    const keys = MODULES.map((module) => [`keys/${module}`, 'old'] as const);
    const descriptors = MODULES.map((module) => [`${module}.json`, describeWith(module)] as const);
    return { files: Object.fromEntries([...keys, ...descriptors]) };
  };
  const start = async () => {
    host = await startHost(describeFiles());
  };

  afterEach(async () => {
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('is read again when descriptors of files are free again', async function () {
    const limited = await startHostProcess(describeFiles());
    host = limited;
    if (!canLimitProcesses()) this.skip();
    // All connections of the test are open by now; a single file can be open beside them.
    for (const module of MODULES) await keyOf(module);
    limitProcess(limited.pid, 'nofile', lowestFree(limited.pid) + 1);
    for (const module of MODULES) host.drop(`keys/${module}`, 'new');
    await waitUntil('a failed read', async () =>
      host.logs().some(({ msg }) => `${msg}`.includes('cannot be read at the moment')),
    );
    limitProcess(limited.pid, 'nofile', 'unlimited');
    for (const module of MODULES) await serveKey(module, 'new');
    expect(statesLogged().filter((state) => state !== 'live')).to.deep.equal([]);
  });

  for (const subject of ['keys/m0', 'm0.json']) {
    it(`leaves a module live, and is used when it can be read: ${subject}`, async () => {
      await start();
      const path = join(host.directory, 'modules.d', subject);
      unlinkSync(path);
      symlinkSync(BROKEN, path);
      // Another file shows that the folder was scanned.
      host.drop('keys/m1', 'new');
      await serveKey('m1', 'new');
      expect(await keyOf('m0')).to.equal('old');
      unlinkSync(path);
      host.drop('keys/m0', 'new');
      host.drop('m0.json', describeWith('m0'));
      await serveKey('m0', 'new');
      expect(statesLogged().filter((state) => state !== 'live')).to.deep.equal([]);
    });
  }

  it('leaves a module live, although its descriptor names it newly', async () => {
    await start();
    const path = join(host.directory, 'modules.d', 'keys', 'broken');
    symlinkSync(BROKEN, path);
    const header = { name: 'x-key', value: 'file:keys/broken' };
    host.drop('m0.json', describeItems('m0', { endpoints: [provider.url], auth: { header } }));
    host.drop('keys/m1', 'new');
    await serveKey('m1', 'new');
    expect(await keyOf('m0')).to.equal('old');
    unlinkSync(path);
    host.drop('keys/broken', 'mended');
    await serveKey('m0', 'mended');
    expect(statesLogged().filter((state) => state !== 'live')).to.deep.equal([]);
  });
});

/** The lowest number of a descriptor that the process has not opened. */
function lowestFree(pid: number): number {
  const open = new Set(readdirSync(`/proc/${pid}/fd`));
  let number = 0;
  while (open.has(String(number))) number += 1;
  return number;
}
