import { expect } from 'chai';
import type { ReleasesStatus } from '../../../core/contract/release-status.js';
import { useFleet } from '../../support/fleet.js';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type ScriptedProvider, startProvider } from '../../support/provider.js';
import { readReleases, sendRelease, useWorkspace } from '../../support/releases.js';
import type { HostProcess } from '../../support/start-host.js';

const DEADLINE_MS = 60_000;
const ITEMS = '/modules/crm/http/items';
/** Short, so that the tests are; calls come as fast as the test sends them. */
const PROBATION = { seconds: 3, min_calls: 5, max_error_rate: 0.2 };

describe('releases of a fleet', () => {
  const fleet = useFleet();
  const workspace = useWorkspace();
  let provider: ScriptedProvider;

  before(async () => {
    provider = await startProvider((request, response) => {
      if (request.url === '/hang') return;
      response.setHeader('content-type', 'application/json');
      response.end('{"ok":true}');
    });
  });
  after(() => provider.stop());

  const start = (...args: string[]) => fleet.start({ args: ['--modules', 'store:', ...args] });
  const startAll = async (count: number) => {
    const hosts: HostProcess[] = [];
    for (let index = 0; index < count; index += 1) hosts.push(await start());
    const [first] = hosts;
    if (first === undefined) throw new Error('no host');
    await fleet.until(first, 'all hosts', ({ hosts: all }) => {
      return all.length === count && all.every(({ state }) => state === 'ready');
    });
    return hosts as [HostProcess, ...HostProcess[]];
  };
  /** A version is told from another one by its summary, and a bad one by its endpoint. */
  const describeCrm = (version: string, endpoint = provider.url, overrides: object = {}) =>
    describeModule(
      'crm',
      endpoint,
      [{ method: 'GET', path: '/items', capability: 'crm.read', summary: version }],
      { probation: PROBATION, retry: { attempts: 0 }, ...overrides },
    );
  const readVersion = async (host: HostProcess) => {
    const text = (await call(host, { target: '/manifests' })).body.toString('utf8');
    return /"summary":"([^"]*)"/.exec(text)?.[1] ?? null;
  };
  const untilVersion = (host: HostProcess, version: string | null) =>
    waitUntil(
      `${version} at ${host.url}`,
      async () => (await readVersion(host)) === version,
      DEADLINE_MS,
    );
  const publish = async (host: HostProcess, version: string) => {
    workspace.write('crm.json', describeCrm(version));
    const ended = await workspace.publish(host);
    expect(ended, ended.stderr).to.include({ code: 0 });
  };
  const untilCanary = async (host: HostProcess): Promise<NonNullable<ReleasesStatus['canary']>> => {
    let canary: ReleasesStatus['canary'] = null;
    const isTried = async () => {
      canary = (await readReleases(host)).canary;
      return canary !== null;
    };
    await waitUntil('a canary', isTried, DEADLINE_MS);
    return canary as unknown as NonNullable<ReleasesStatus['canary']>;
  };
  const findHost = async (hosts: readonly HostProcess[], id: string | undefined) => {
    const [any] = hosts;
    const known = (await fleet.read(any as HostProcess)).hosts;
    const address = known.find((host) => host.id === id)?.address;
    return hosts.find(({ url }) => url === address) as HostProcess;
  };
  const callOften = async (host: HostProcess, count: number) => {
    for (let sent = 0; sent < count; sent += 1) await call(host, { target: ITEMS });
  };

  it('are served by every host, also by one that joins or starts with its workers', async () => {
    const [first, second] = (await startAll(2)) as [HostProcess, HostProcess];
    await publish(first, 'one');
    await untilVersion(second, 'one');
    const third = await start('--workers', '2');
    await untilVersion(third, 'one');
    await publish(second, 'two');
    for (const host of [first, second, third]) await untilVersion(host, 'two');
    const status = await fleet.until(first, 'agreement', ({ agreed, hosts }) => {
      return agreed && hosts.length === 3;
    });
    expect(status.hosts.every(({ rejected }) => rejected.length === 0)).to.equal(true);
    const back = await workspace.run(third, 'rollback');
    expect(back.code).to.equal(0);
    for (const host of [first, second, third]) await untilVersion(host, 'one');
  });

  it('become active on all hosts after a canary that did well', async () => {
    const hosts = await startAll(3);
    await publish(hosts[0], 'one');
    for (const host of hosts) await untilVersion(host, 'one');
    workspace.write('crm.json', describeCrm('good'));
    const publishing = workspace.publish(hosts[0], '--canary', '34%');
    const canary = await untilCanary(hosts[0]);
    expect(canary.hosts).to.have.length(2);
    const tried = await findHost(hosts, canary.hosts[0]);
    await untilVersion(tried, 'good');
    const [spared] = hosts.filter(({ url }) => url !== tried.url && url !== hosts[0].url);
    expect(spared).to.not.equal(undefined);
    const taken = await sendRelease(hosts[0], {}, { base: (await readReleases(hosts[0])).active });
    expectProblem(taken, 409, 'conflict');
    await callOften(tried, 10);
    const ended = await publishing;
    expect(ended.code, ended.stderr).to.equal(0);
    expect(ended.stdout).to.match(/is a canary on host_.*: crm \d+ calls, 0 failed\n/);
    expect(ended.stdout).to.match(/is active on all hosts/);
    for (const host of hosts) await untilVersion(host, 'good');
    expect((await readReleases(hosts[0])).active).to.equal(workspace.base());
  });

  it('go back when a canary fails, and when it has too few calls', async () => {
    const hosts = await startAll(2);
    await publish(hosts[0], 'one');
    for (const host of hosts) await untilVersion(host, 'one');
    const active = workspace.base();
    workspace.write('crm.json', describeCrm('bad', 'http://127.0.0.1:1'));
    const publishing = workspace.publish(hosts[0], '--canary', '10%');
    const canary = await untilCanary(hosts[0]);
    expect(canary.hosts).to.have.length(1);
    const tried = await findHost(hosts, canary.hosts[0]);
    await untilVersion(tried, 'bad');
    await callOften(tried, 8);
    const bad = await publishing;
    expect(bad.stdout).to.match(/went back \(failed\): /);
    expect(bad.code).to.equal(1);
    for (const host of hosts) await untilVersion(host, 'one');

    workspace.write('crm.json', describeCrm('silent'));
    const silent = await workspace.publish(hosts[0], '--canary', '10%');
    expect(silent.stdout).to.include('went back (unproven): crm had 0 calls of the 5');
    expect(silent.code).to.equal(1);
    const allowed = await workspace.publish(hosts[0], '--canary', '10%', '--allow-unproven');
    expect(allowed.code, allowed.stdout + allowed.stderr).to.equal(0);
    for (const host of hosts) await untilVersion(host, 'silent');
    expect(workspace.base()).to.not.equal(active);
  });

  it('are decided when the host of the canary is killed', async () => {
    const hosts = await startAll(2);
    await publish(hosts[0], 'one');
    for (const host of hosts) await untilVersion(host, 'one');
    workspace.write('crm.json', describeCrm('two'));
    await workspace.publish(hosts[0], '--canary', '1%', '--no-wait');
    const canary = await untilCanary(hosts[0]);
    const tried = await findHost(hosts, canary.hosts[0]);
    const [other] = hosts.filter(({ url }) => url !== tried.url);
    await untilVersion(tried, 'two');
    await tried.stop('SIGKILL');
    const verdictOf = async (release: string) =>
      (await readReleases(other as HostProcess)).releases.find((entry) => entry.release === release)
        ?.verdict?.outcome ?? null;
    const isDecided = async () => (await verdictOf(canary.release)) !== null;
    await waitUntil('the verdict', isDecided, DEADLINE_MS);
    expect(await verdictOf(canary.release)).to.equal('unproven');
    expect(await readVersion(other as HostProcess)).to.equal('one');
  });

  it('are not taken by a host that joins while they are a canary, which a rollback ends', async () => {
    const hosts = await startAll(2);
    await publish(hosts[0], 'one');
    for (const host of hosts) await untilVersion(host, 'one');
    const long = { probation: { ...PROBATION, seconds: 600 } };
    workspace.write('crm.json', describeCrm('two', provider.url, long));
    await workspace.publish(hosts[0], '--canary', '1%', '--no-wait');
    const canary = await untilCanary(hosts[0]);
    const tried = await findHost(hosts, canary.hosts[0]);
    await untilVersion(tried, 'two');
    const joining = await start();
    await untilVersion(joining, 'one');
    const ended = await workspace.run(hosts[0], 'rollback');
    expect(ended.stdout).to.include('stays active: the canary has ended');
    await untilVersion(tried, 'one');
    const { releases } = await readReleases(hosts[0]);
    expect(releases[0]?.verdict?.outcome).to.equal('aborted');
    workspace.write('crm.json', describeCrm('three', provider.url));
    const again = await workspace.publish(hosts[0]);
    expect(again.code, again.stderr).to.equal(0);
    await untilVersion(tried, 'three');
    for (const host of hosts) expect(host.output()).to.not.include('has the same id');
  });
});
