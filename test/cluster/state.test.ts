import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ConfigField } from '../../core/contract/index.js';
import {
  configDescriptor,
  readDeliveries,
  readValues,
  writeValue,
} from '../support/bridge/config.js';
import { useWorkers } from '../support/cluster/use-workers.js';
import { listWorkers, TIMEOUT_MS, waitForLine } from '../support/cluster/worker-log.js';
import { call, parseJson } from '../support/http/call.js';
import { describeModule, type RouteOptions } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';

const FIELDS: readonly ConfigField[] = [
  { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
];
const ROUTES: readonly RouteOptions[] = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const MORE: readonly RouteOptions[] = [
  ...ROUTES,
  { method: 'GET', path: '/more', capability: 'crm.read' },
];

interface Entry {
  readonly name: string | null;
  readonly file: string;
  readonly state: string;
  readonly reason: string | null;
}

describe('state shared by workers', function () {
  this.timeout(180_000);
  const workers = useWorkers();
  const start = (files: Readonly<Record<string, string | object>>) => workers.start({ files });
  const get = (target: string) => call(workers.host, { target });
  const find = async (file: string) => {
    const { modules } = parseJson(await get('/modules')) as unknown as { modules: Entry[] };
    return modules.find((module) => module.file === file);
  };
  const waitForState = (file: string, state: string) =>
    waitUntil(`${file} is ${state}`, async () => (await find(file))?.state === state, TIMEOUT_MS);
  /** The distinct statuses of all workers: connections are distributed in turn. */
  const statuses = async (target: string) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => get(target)));
    return [...new Set(answers.map(({ status }) => status))];
  };
  const killLeader = async () => {
    const [leader = 0] = listWorkers(workers.host);
    process.kill(leader, 'SIGKILL');
    await waitForLine(workers.host, 'worker ready', 3);
  };

  it('delivers configuration from the leader only, and again from its successor', async () => {
    const host = await start({ 'conf.json': configDescriptor(workers.provider.url, FIELDS) });
    const revisions = () => readDeliveries(workers.provider).map(({ revision }) => revision);
    await waitUntil('the first', () => revisions().length > 0, TIMEOUT_MS);
    for (const [index, value] of [60, 70, 80].entries()) {
      await writeValue(host, 'size', value);
      await waitUntil(`change ${index + 1}`, () => revisions().includes(index + 1), TIMEOUT_MS);
    }
    expect(revisions()).to.deep.equal([0, 1, 2, 3]);
    expect((await readValues(host))['size']?.desired_value).to.equal(80);
    await killLeader();
    await waitUntil('the new leader to deliver', () => revisions().length > 4, TIMEOUT_MS);
    await writeValue(host, 'size', 90);
    await waitUntil('its change', () => revisions().includes(4), TIMEOUT_MS);
    expect(revisions()).to.deep.equal([0, 1, 2, 3, 3, 4]);
  });

  it('keeps one writable configuration and one audit chain for all workers', async () => {
    const host = await start({ 'conf.json': configDescriptor(workers.provider.url, FIELDS) });
    const sizes = Array.from({ length: 12 }, (_, index) => index);
    // Four at once: the host rejects a write that has to wait for others for more than two seconds.
    for (let first = 0; first < sizes.length; first += 4) {
      await Promise.all(
        sizes.slice(first, first + 4).map((size) => writeValue(host, 'size', size)),
      );
    }
    await waitUntil(
      'the last revision',
      () => readDeliveries(workers.provider).at(-1)?.revision === sizes.length,
      TIMEOUT_MS,
    );
    const { runModgate } = await import('../support/cli/run-modgate.js');
    const args = ['audit', '--state', join(host.directory, 'state'), '--verify'];
    expect(await runModgate(args)).to.include({ code: 0 });
  });

  it('counts the calls of all workers on probation, and rolls back all of them', async () => {
    const probation = { seconds: 60, max_error_rate: 0.2, min_calls: 8 };
    const host = await start({ 'crm.json': describeModule('crm', workers.provider.url, ROUTES) });
    host.drop('crm.json', describeModule('crm', workers.provider.url, MORE, { probation }));
    await waitUntil(
      'all workers to serve the new version',
      async () => (await statuses('/modules/crm/http/more')).join() === '200',
      TIMEOUT_MS,
    );
    workers.provider.answer({ status: 500, body: '{}' });
    // The minimum of 8 calls is reached by both workers together, not by either alone.
    for (let count = 0; count < 8; count += 1) await get('/modules/crm/http/more');
    await waitForState('crm.json', 'rolled_back');
    workers.provider.answer({});
    expect(await statuses('/modules/crm/http/more')).to.deep.equal([404]);
    expect(await statuses('/modules/crm/http/items')).to.deep.equal([200]);
    await killLeader();
    expect((await find('crm.json'))?.state).to.equal('rolled_back');
    expect(await statuses('/modules/crm/http/more')).to.deep.equal([404]);
  });

  it('keeps a name with the file that serves it, also in a new worker', async () => {
    const host = await start({ 'b.json': describeModule('crm', workers.provider.url, ROUTES) });
    host.drop('a.json', describeModule('crm', workers.provider.url, MORE));
    await waitForState('a.json', 'refused');
    await killLeader();
    expect((await find('a.json'))?.state).to.equal('refused');
    expect((await find('b.json'))?.state).to.equal('live');
    expect(await statuses('/modules/crm/http/more')).to.deep.equal([404]);
    expect(await statuses('/modules/crm/http/items')).to.deep.equal([200]);
  });

  it('writes each status file and last good version once and completely', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [
        `m${index}.json`,
        describeModule(`m${index}`, workers.provider.url, ROUTES),
      ]),
    );
    const host = await start(files);
    const status = join(host.directory, 'modules.d', '.status');
    const lastGood = join(host.directory, 'state', 'last-good');
    const expected = Object.keys(files)
      .map((file) => `${file}.json`)
      .toSorted();
    for (const folder of [status, lastGood]) {
      await waitUntil(
        `all in ${folder}`,
        () => existsSync(folder) && readdirSync(folder).toSorted().join() === expected.join(),
        TIMEOUT_MS,
      );
      for (const name of expected) JSON.parse(readFileSync(join(folder, name), 'utf8'));
    }
    host.remove('m0.json');
    await waitUntil('one less', () => readdirSync(status).length === 29, TIMEOUT_MS);
    await waitUntil('one less', () => readdirSync(lastGood).length === 29, TIMEOUT_MS);
  });

  it('serves the last good version of an invalid file, also in a new worker', async () => {
    const host = await start({ 'crm.json': describeModule('crm', workers.provider.url, ROUTES) });
    host.drop('crm.json', 'module: crm\n');
    await waitForState('crm.json', 'stale');
    await killLeader();
    expect((await find('crm.json'))?.state).to.equal('stale');
    expect(await statuses('/modules/crm/http/items')).to.deep.equal([200]);
  });
});
