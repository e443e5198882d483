import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import {
  askValues,
  configDescriptor,
  readDeliveries,
  readValues,
  writeValue,
} from '../../support/bridge/config.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import {
  countLines,
  listWorkers,
  TIMEOUT_MS,
  waitForLine,
} from '../../support/cluster/worker-log.js';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const FIELDS: readonly ConfigField[] = [
  { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
];
const ROUTES: readonly RouteOptions[] = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
/** Served from the start. */
const MANY = Array.from({ length: 30 }, (_, index) => `m${index}`);
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

describe('state shared by workers', () => {
  const setup = useHostProcess(
    ({ url }) =>
      Object.fromEntries(MANY.map((name) => [`${name}.json`, describeModule(name, url, ROUTES)])),
    { args: ['--workers', '2'] },
  );
  /** Adds a module and waits until all workers serve it. */
  const add = async (file: string, module: string) => {
    setup.host.drop(file, describeModule(module, setup.provider.url, ROUTES));
    await waitUntil(
      `all workers to serve ${module}`,
      async () => (await statuses(`/modules/${module}/http/items`)).join() === '200',
      TIMEOUT_MS,
    );
  };
  const get = (target: string) => call(setup.host, { target });
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
  const addConfigurable = async () => {
    const { host, provider } = setup;
    host.drop('conf.json', configDescriptor(provider.url, FIELDS));
    const answers = () => Promise.all(Array.from({ length: 8 }, () => askValues(host)));
    const areGood = async () => (await answers()).every(({ status }) => status === 200);
    await waitUntil('all workers to serve it', areGood, TIMEOUT_MS);
  };
  const revisions = () => readDeliveries(setup.provider).map(({ revision }) => revision);
  const killLeader = async () => {
    const { host } = setup;
    const [leader = 0] = listWorkers(host);
    const ready = countLines(host, 'worker ready') + 1;
    process.kill(leader, 'SIGKILL');
    await waitForLine(host, 'worker ready', ready);
  };

  it('delivers configuration from the leader only, and again from its successor', async () => {
    const { host } = setup;
    await addConfigurable();
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
    const { host } = setup;
    await addConfigurable();
    await writeValue(host, 'size', 100);
    await waitUntil('its delivery', () => revisions().length > 0, TIMEOUT_MS);
    const before = revisions().at(-1) ?? 0;
    const sizes = Array.from({ length: 12 }, (_, index) => index);
    // Four at once: the host rejects a write that has to wait for others for more than two seconds.
    for (let first = 0; first < sizes.length; first += 4) {
      await Promise.all(
        sizes.slice(first, first + 4).map((size) => writeValue(host, 'size', size)),
      );
    }
    await waitUntil(
      'the last revision',
      () => revisions().at(-1) === before + sizes.length,
      TIMEOUT_MS,
    );
    const args = ['audit', '--state', join(host.directory, 'state'), '--verify'];
    expect(await runModgate(args)).to.include({ code: 0 });
  });

  it('counts the calls of all workers on probation, and rolls back all of them', async () => {
    const probation = { seconds: 60, max_error_rate: 0.2, min_calls: 8 };
    const { host, provider } = setup;
    await add('crm.json', 'crm');
    host.drop('crm.json', describeModule('crm', provider.url, MORE, { probation }));
    await waitUntil(
      'all workers to serve the new version',
      async () => (await statuses('/modules/crm/http/more')).join() === '200',
      TIMEOUT_MS,
    );
    provider.answer({ status: 500, body: '{}' });
    // The minimum of 8 calls is reached by both workers together, not by either alone.
    for (let count = 0; count < 8; count += 1) await get('/modules/crm/http/more');
    await waitForState('crm.json', 'rolled_back');
    provider.answer({});
    expect(await statuses('/modules/crm/http/more')).to.deep.equal([404]);
    expect(await statuses('/modules/crm/http/items')).to.deep.equal([200]);
    await killLeader();
    expect((await find('crm.json'))?.state).to.equal('rolled_back');
    expect(await statuses('/modules/crm/http/more')).to.deep.equal([404]);
  });

  it('keeps a name with the file that serves it, also in a new worker', async () => {
    const { host, provider } = setup;
    await add('b.json', 'named');
    host.drop('a.json', describeModule('named', provider.url, MORE));
    await waitForState('a.json', 'refused');
    await killLeader();
    expect((await find('a.json'))?.state).to.equal('refused');
    expect((await find('b.json'))?.state).to.equal('live');
    expect(await statuses('/modules/named/http/more')).to.deep.equal([404]);
    expect(await statuses('/modules/named/http/items')).to.deep.equal([200]);
  });

  it('writes each status file and last good version once and completely', async () => {
    const { host } = setup;
    const listMany = (folder: string) =>
      readdirSync(folder)
        .filter((name) => /^m\d+\.json/.test(name))
        .toSorted();
    const status = join(host.directory, 'modules.d', '.status');
    const lastGood = join(host.directory, 'state', 'last-good');
    const expected = MANY.map((name) => `${name}.json.json`).toSorted();
    for (const folder of [status, lastGood]) {
      await waitUntil(
        `all in ${folder}`,
        () => existsSync(folder) && listMany(folder).join() === expected.join(),
        TIMEOUT_MS,
      );
      for (const name of expected) JSON.parse(readFileSync(join(folder, name), 'utf8'));
    }
    host.remove('m0.json');
    await waitUntil('one less', () => listMany(status).length === 29, TIMEOUT_MS);
    await waitUntil('one less', () => listMany(lastGood).length === 29, TIMEOUT_MS);
  });

  it('serves the last good version of an invalid file, also in a new worker', async () => {
    await add('valid.json', 'valid');
    setup.host.drop('valid.json', 'module: valid\n');
    await waitForState('valid.json', 'stale');
    await killLeader();
    expect((await find('valid.json'))?.state).to.equal('stale');
    expect(await statuses('/modules/valid/http/items')).to.deep.equal([200]);
  });
});
