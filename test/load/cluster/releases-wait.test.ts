import { expect } from 'chai';
import { runSql } from '../../store/backend.js';
import { useFleet } from '../../support/fleet.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { CODE_PUBLISHER, readReleases, useWorkspace } from '../../support/releases.js';
import type { HostProcess } from '../../support/start-host.js';

const TOKEN = { CRM_TOKEN: 'a-token-of-the-crm' };

describe('publish --wait', () => {
  const fleet = useFleet();
  const workspace = useWorkspace(`${CODE_PUBLISHER},modgate.modules.read`);

  const start = (env = {}) =>
    fleet.start({ args: ['--modules', 'store:', '--release-references', 'env:CRM_TOKEN'], env });
  /** Starts two hosts. @param others the environment of the second one */
  const startBoth = async (others: object = TOKEN): Promise<[HostProcess, HostProcess]> => {
    const both = [await start(TOKEN), await start(others)] as [HostProcess, HostProcess];
    await fleet.until(both[0], 'both hosts', ({ hosts }) => {
      return hosts.length === 2 && hosts.every(({ state }) => state === 'ready');
    });
    return both;
  };
  const write = (version: string, overrides: object = {}) => {
    const route = { method: 'GET', path: `/${version}`, capability: 'crm.read' };
    const config = { endpoints: ['http://127.0.0.1:1'], auth: { bearer: 'env:CRM_TOKEN' } };
    const provider = { kind: 'http', config };
    workspace.write('crm.json', describeModule('crm', '', [route], { provider, ...overrides }));
  };
  const nameOf = async (host: HostProcess, other: HostProcess) => {
    const { hosts } = await fleet.read(other);
    return `${hosts.find(({ address }) => address === host.url)?.id} (${host.url})`;
  };

  it('names a host that is lost meanwhile, which --ignore-lost leaves out', async () => {
    const [first, second] = await startBoth();
    const name = await nameOf(second, first);
    await second.stop('SIGKILL');
    write('one');
    const waiting = workspace.publish(first, '--wait');
    await waitUntil('the release', async () => (await readReleases(first)).active !== null);
    const ignoring = workspace.publish(first, '--wait', '--ignore-lost');
    expect((await fleet.read(first)).hosts.map(({ state }) => state)).to.not.include('lost');
    const [waited, ignored] = await Promise.all([waiting, ignoring]);
    expect(waited.stderr).to.include(`host ${name} is lost; with --ignore-lost`);
    expect(waited.code).to.equal(1);
    expect(ignored.stdout).to.match(/is served by every ready host\n$/);
    expect(ignored, ignored.stderr).to.include({ code: 0, stderr: '' });
  });

  it('names a host that rejects a module of the release, until it serves it', async () => {
    const [first, second] = await startBoth({});
    const name = await nameOf(second, first);
    write('one');
    const rejected = await workspace.publish(first, '--wait');
    expect(rejected.stderr).to.include(`${name} does not serve crm of sha256:`);
    expect(rejected.stderr).to.include('CRM_TOKEN');
    expect(rejected.code).to.equal(1);
    await second.stop();
    const repeated = await workspace.publish(first, '--wait');
    expect(repeated.code, repeated.stderr).to.equal(0);
    await start(TOKEN);
    const served = await workspace.publish(first, '--wait');
    expect(served.code, served.stderr).to.equal(0);
  });

  it('names a host that is too old for the release', async () => {
    const [first, second] = await startBoth();
    // A host stores no release that it cannot serve itself.
    const age = `${fleet.schema}.age_release`;
    await runSql(`create function ${age}() returns trigger language plpgsql
      as $$ begin new.least_version := '99.0.0'; return new; end $$`);
    await runSql(`create trigger age before insert on ${fleet.schema}.release
      for each row execute function ${age}()`);
    write('one');
    const ended = await workspace.publish(first, '--wait');
    expect(ended.stderr).to.match(/does not serve sha256:[0-9a-f]{64} requires modgate 99\.0\.0/);
    const names = [await nameOf(first, second), await nameOf(second, first)];
    expect(names.filter((name) => ended.stderr.includes(name))).to.have.length(1);
    expect(ended.code).to.equal(1);
  });

  it('ends after the verdict on a canary, when every host serves the release', async () => {
    const [first, second] = await startBoth();
    write('one');
    expect((await workspace.publish(first, '--wait')).code).to.equal(0);
    const probation = { seconds: 2, min_calls: 1 };
    write('two', { probation });
    const released = await workspace.publish(
      first,
      ...['--wait', '--canary', '50%', '--allow-unproven'],
    );
    expect(released.code, released.stderr).to.equal(0);
    expect(released.stdout).to.match(
      /is a canary on host_.*\n.* is active on all hosts: .*\n.* is served by every ready host\n$/,
    );
    const { active, hosts } = await readReleases(second);
    expect(hosts.map(({ release }) => release)).to.deep.equal([active, active]);
    write('three', { probation });
    const back = await workspace.publish(first, '--wait', '--canary', '50%');
    expect(back.stdout)
      .to.match(/went back \(unproven\): /)
      .and.not.include('is served');
    expect(back.code).to.equal(1);
    expect((await readReleases(second)).active).to.equal(active);
  });

  it('ends when the host of a canary rejects it', async () => {
    const hosts = await startBoth({});
    write('one', { provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:1'] } } });
    expect((await workspace.publish(hosts[0], '--wait')).code).to.equal(0);
    write('two', { probation: { seconds: 2 } });
    const args = ['--wait', '--canary', '100%', '--allow-unproven'];
    const ended = await workspace.publish(hosts[0], ...args);
    expect(ended.stdout + ended.stderr).to.match(/host_\S+ .*does not serve .*crm/);
    expect(ended.code).to.equal(1);
  });
});
