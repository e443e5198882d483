import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeModule, toRoutes } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type ReloadProcess, startReloadProcess } from '../../support/reload/reload-host.js';

const MODULES = 10;
const KILLS = 5;
const NAMES = Array.from({ length: MODULES }, (_, index) => `m${index}`);
/** The host applies and stores a change within this time. */
const SPREAD_MS = 400;

/** Makes writes slow enough to be interrupted. */
const PADDING = 'x'.repeat(200_000);

const versionRoute = (version: number) => ({
  method: 'GET',
  path: `/v${version}`,
  capability: 'use',
});

describe('kill -9 at any moment', () => {
  let host: ReloadProcess;
  const describeAt = (name: string, version: number, url: string) =>
    describeModule(name, url, [
      ...toRoutes(['GET /items'], 'use'),
      { ...versionRoute(version), summary: PADDING },
    ]);

  before(async () => {
    host = await startReloadProcess(({ url }) =>
      Object.fromEntries(NAMES.map((name) => [`${name}.json`, describeAt(name, 1, url)])),
    );
    await waitUntil('all versions to be stored', () => NAMES.every(isKept(1)));
  });

  after(() => host?.close());

  it(`loses no module in ${KILLS} kills while versions are written`, async () => {
    for (let version = 2; version < 2 + KILLS; version += 1) {
      for (const name of NAMES) {
        host.write(`${name}.json`, describeAt(name, version, host.provider.url));
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * SPREAD_MS));
      process.kill(host.running.pid, 'SIGKILL');
      // From now on only the last good versions are available.
      for (const name of NAMES) host.write(`${name}.json`, '{"module": ');
      await host.restart('SIGKILL');
      const states = new Set((await host.list()).map(({ state }) => state));
      expect([...states]).to.deep.equal(['stale']);
      for (const name of NAMES) await expectOneOf(name, [version - 1, version]);
      for (const name of NAMES) {
        host.write(`${name}.json`, describeAt(name, version, host.provider.url));
      }
      const isServed = async (name: string) => (await host.get(name, `/v${version}`)) === 200;
      for (const name of NAMES) {
        await waitUntil(`${name} to be served again`, () => isServed(name));
      }
      await waitUntil('all versions to be stored', () => NAMES.every(isKept(version)));
    }
  });

  /** Expects exactly one complete version. */
  async function expectOneOf(name: string, versions: readonly number[]): Promise<void> {
    const statuses = await Promise.all(versions.map((version) => host.get(name, `/v${version}`)));
    expect(statuses.toSorted(), name).to.deep.equal([200, 404]);
    expect(await host.get(name, '/items'), name).to.equal(200);
  }

  const isKept = (version: number) => (name: string) => {
    const path = join(host.state, 'last-good', `${name}.json.json`);
    return existsSync(path) && readFileSync(path, 'utf8').includes(`/v${version}"`);
  };

  it('ignores files that a kill has left half-written', async () => {
    const folder = join(host.state, 'last-good');
    const path = join(folder, 'm0.json.json');
    const whole = readFileSync(path, 'utf8');
    await host.running.kill();
    writeFileSync(path, whole.slice(0, whole.length / 2));
    writeFileSync(`${path}.new`, whole.slice(0, whole.length / 3));
    host.write('m0.json', '{"module": ');
    host.write('m1.json', '{"module": ');
    await host.restart('SIGKILL');
    const states = (await host.list()).map(({ file, state }) => `${file} ${state}`);
    expect(states).to.include.members(['m0.json refused', 'm1.json stale', 'm2.json live']);
    expect(readdirSync(folder)).not.to.include('m0.json.json.new');
  });
});
