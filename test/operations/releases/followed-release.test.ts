import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { digestRelease, encodeFiles } from '../../../core/modules/releases/release-files.js';
import { silent } from '../../store/backend.js';
import { createReleaseDraft } from '../../store/drafts.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape } from '../../support/observability/exposition.js';
import { CODE_PUBLISHER, readReleases, sendJson } from '../../support/releases.js';
import { startHost } from '../../support/start-host.js';
import { openStore } from '../../support/store/open-store.js';
import { createFolder } from '../../support/temporary-folder.js';
import { useEach } from '../../support/use.js';
import { withoutThreads } from '../../support/without-threads.js';

const SECRET = 'FOLLOWED_SECRET';

/** Writes to the store of the host as another host of its fleet could. */
describe('a release that a host finds in the store', () => {
  let state = '';

  const host = useEach(() => {
    state = createFolder();
    const args = ['--modules', 'store:', '--state', state];
    return startHost({ args, env: { [SECRET]: 'value' } });
  });
  const store = useEach(() => openStore({ url: null, stateDir: state, keys: null, log: silent }));

  const describeCrm = (config: object = {}) =>
    describeModule('crm', 'http://127.0.0.1:1', [{ method: 'GET', path: '/items' }], {
      provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:1'], ...config } },
    });
  const publish = async (
    descriptor: object,
    { leastVersion = '0.1.0', named = descriptor }: { leastVersion?: string; named?: object } = {},
  ): Promise<string> => {
    const toFiles = (one: object) => new Map([['crm.json', Buffer.from(JSON.stringify(one))]]);
    const { active: base } = await store.releases.readState('');
    const id = digestRelease(toFiles(named), { base, leastVersion });
    const author = { kind: 'service', id: 'other' } as const;
    const parts = encodeFiles(toFiles(descriptor));
    const draft = { ...createReleaseDraft(id, base, parts), least_version: leastVersion };
    const ids = { requestId: 'r', correlationId: 'c' };
    const audit = {
      actor: author,
      module: '',
      permission: '',
      operation: 'test',
      target: id,
      ...ids,
    };
    expect(await store.releases.publish('', draft, null, audit)).to.deep.equal({ outcome: 'done' });
    return id;
  };
  const untilProblem = (text: string) =>
    waitUntil(text, async () => {
      return (await readReleases(host)).hosts[0]?.problem?.includes(text) === true;
    });
  const readModules = async () => {
    const { modules } = parseJson(await call(host, { target: '/modules' })) as {
      modules: { name: string; state: string; reason: string | null }[];
    };
    return modules;
  };
  const readServed = () => readlinkSync(join(state, 'releases', 'current'));

  it('is kept out of a host that is older than its least version, which says so', async () => {
    // Times of files are truncated.
    const startedAt = Date.now() / 1000 - 1;
    const good = await publish(describeCrm());
    await waitUntil('the first release', async () => {
      return (await readReleases(host)).hosts[0]?.release === good;
    });
    expect(readServed()).to.equal(good.slice('sha256:'.length));
    const newer = await publish(describeCrm({}), { leastVersion: '99.0.0' });
    await untilProblem(`${newer} requires modgate 99.0.0`);
    expect(readServed()).to.equal(good.slice('sha256:'.length));
    expect((await readReleases(host)).hosts[0]?.release).to.equal(good);
    const metrics = await scrape(host);
    expect(metrics.find('modgate_release_info')).to.deep.equal([
      { name: 'modgate_release_info', labels: { release: good }, value: 1 },
    ]);
    const since = metrics.sum('modgate_release_served_timestamp_seconds');
    expect(since).to.be.within(startedAt, Date.now() / 1000);
    expect(metrics.sum('modgate_release_rejected')).to.equal(1);
    expect(metrics.sum('modgate_release_failures_total', { reason: 'rejected' })).to.equal(1);
    await waitUntil('the module', async () => (await readModules())[0]?.state === 'live');
  });

  it('is kept out when its content is not what its name says', async () => {
    await publish(describeCrm({ manifest_path: '/other' }), { named: describeCrm() });
    await untilProblem('has another content than was published');
    expect(readServed()).to.equal('none');
  });

  it('is served once the system has a thread to read it, and a rollback is 503 until then', async () => {
    let id = '';
    await withoutThreads(async () => {
      const first = await publish(describeCrm());
      id = await publish(describeCrm({ manifest_path: '/other' }));
      const tries = () => host.logs().filter(({ msg }) => msg === 'releases cannot be followed');
      await waitUntil('a try', () => tries().length > 0);
      const rollback = await sendJson(host, '/rollback', { release: first }, CODE_PUBLISHER);
      expectProblem(rollback, 503, 'unavailable');
    });
    await waitUntil('the release', async () => {
      return (await readReleases(host)).hosts[0]?.release === id;
    });
  });

  const socket = { kind: 'unix', config: { socket: '/run/other.sock' } };
  const command = { kind: 'process', config: { command: ['true'] } };
  const references: Readonly<Record<string, object>> = {
    'a variable': describeCrm({ auth: { bearer: `env:${SECRET}` } }),
    'a file of endpoints': describeCrm({ endpoints: { file: '/etc/hostname' } }),
    'a file of endpoints of a candidate': {
      ...describeCrm(),
      candidate: { endpoints: { file: '/etc/hostname' } },
    },
    'a socket': { ...describeCrm(), provider: socket },
    'a command': { ...describeCrm(), provider: command },
  };
  for (const [name, descriptor] of Object.entries(references)) {
    it(`has no reference that this host does not allow: ${name}`, async () => {
      await publish(descriptor);
      await waitUntil('the module', async () => (await readModules())[0]?.state === 'refused');
      const [module] = await readModules();
      expect(module?.reason).to.include('--release-references');
    });
  }
});
