import { expect } from 'chai';
import { POSTGRES_URL, runSql } from '../../store/backend.js';
import { startTcpProxy, type TcpProxy } from '../../store/tcp-proxy.js';
import { useFleet } from '../../support/fleet.js';
import { call } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { readReleases, useWorkspace } from '../../support/releases.js';
import type { HostProcess } from '../../support/start-host.js';

const DEADLINE_MS = 60_000;

describe('a publish while the network is cut', () => {
  const fleet = useFleet();
  const workspace = useWorkspace();
  let proxy: TcpProxy;
  let cut: HostProcess;
  let whole: HostProcess;

  beforeEach(async () => {
    const { hostname, port } = new URL(POSTGRES_URL);
    proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
    cut = await fleet.start({ args: ['--modules', 'store:', ...fleet.through(proxy.port)] });
    whole = await fleet.start({ args: ['--modules', 'store:'] });
    expect((await publish(cut, 'one')).code).to.equal(0);
    for (const host of [cut, whole]) await untilServed(host, 'one');
  });
  afterEach(async () => {
    for (const host of fleet.hosts) await host.kill();
    await proxy.cut();
  });

  const publish = (host: HostProcess, version: string) => {
    const route = { method: 'GET', path: `/${version}`, capability: 'crm.read' };
    workspace.write('crm.json', describeModule('crm', 'http://127.0.0.1:1', [route]));
    return workspace.publish(host);
  };
  const untilServed = (host: HostProcess, version: string) =>
    waitUntil(
      `${version} at ${host.url}`,
      async () => {
        const { body } = await call(host, { target: '/manifests' });
        return body.toString('utf8').includes(`"/${version}"`);
      },
      DEADLINE_MS,
    );
  /** All that a publish writes. */
  const readStored = async () => {
    const count = async (table: string) =>
      (await runSql(`select count(*)::int as rows from ${fleet.schema}.${table}`)).rows[0]?.rows;
    const { rows } = await runSql(`select active, canary from ${fleet.schema}.release_state`);
    return { releases: await count('release'), audit: await count('audit_row'), state: rows };
  };
  const expectUnavailable = (ended: { readonly code: number | null; readonly stderr: string }) => {
    expect(ended.code).to.equal(1);
    expect(ended.stderr).to.include('503').and.include('store');
  };

  it('fails at a host without the store, stores nothing, and succeeds at another one', async () => {
    const [before, base] = [await readStored(), workspace.base()];
    await proxy.cut();
    expectUnavailable(await publish(cut, 'two'));
    expect(await readStored()).to.deep.equal(before);
    expect(workspace.base()).to.equal(base);
    expect((await publish(whole, 'two')).code).to.equal(0);
    await untilServed(whole, 'two');
    // Without the store, a host keeps what it has.
    await untilServed(cut, 'one');
    await proxy.restore();
    await untilServed(cut, 'two');
    const { active, hosts } = await readReleases(whole);
    expect(active).to.equal(workspace.base());
    await waitUntil('both reports', async () =>
      (await readReleases(whole)).hosts.every(({ release }) => release === active),
    );
    expect(hosts).to.have.length(2);
  });

  it('fails when the store stops answering meanwhile, stores nothing, and can be repeated', async () => {
    const before = await readStored();
    proxy.block();
    const publishing = publish(cut, 'two');
    const ended = await publishing;
    expectUnavailable(ended);
    expect(await readStored()).to.deep.equal(before);
    await proxy.cut();
    proxy.unblock();
    await proxy.restore();
    await waitUntil(
      'the store',
      async () => (await call(cut, { target: '/releases' })).status === 200,
      DEADLINE_MS,
    );
    const again = await workspace.publish(cut);
    expect(again.code, again.stderr).to.equal(0);
    for (const host of [cut, whole]) await untilServed(host, 'two');
  });

  it('is done or not, wherever the connection breaks, and never half', async () => {
    const hosts = [cut, whole];
    let version = 'one';
    for (const turns of [0, 20, 40, 60, 80]) {
      const [before, base] = [await readStored(), workspace.base()];
      const next = `cut${turns}`;
      const publishing = publish(cut, next);
      // Turns of the event loop instead of a time: some break the publish, others are too late.
      for (let turn = 0; turn < turns; turn += 1) await call(whole, { target: '/livez' });
      await proxy.cut();
      const ended = await publishing;
      const after = await readStored();
      const isStored = after.releases !== before.releases;
      if (isStored) version = next;
      else expect(after).to.deep.equal(before);
      if (ended.code === 0) expect(isStored).to.equal(true);
      else expectUnavailable(ended);
      await proxy.restore();
      for (const host of hosts) await untilServed(host, version);
      // A publisher that did not hear the end starts from what is active.
      if (isStored && ended.code !== 0) {
        expect(workspace.base()).to.equal(base);
        const pulled = await workspace.run(whole, 'releases', 'pull', workspace.folder, '--force');
        expect(pulled.code).to.equal(0);
      }
    }
  });
});
