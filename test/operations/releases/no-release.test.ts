import { expect } from 'chai';
import { headerValues } from '../../../core/selftest/raw-http.js';
import {
  type Backend,
  createPostgresBackend,
  POSTGRES_URL,
  requirePostgres,
  runSql,
} from '../../store/backend.js';
import { startTcpProxy, type TcpProxy } from '../../store/tcp-proxy.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { CODE_PUBLISHER, readReleases, sendRelease, useWorkspace } from '../../support/releases.js';
import { type RunningHost, startHost, startHostProcess } from '../../support/start-host.js';

const ROUTE = '/modules/crm/http/items';
const BRIDGE = '/modules/crm/http/console-bridge/crm.read';
const MOUNT = '/shop/items';
const CALLER = 'dev-service:caller:crm.read';

for (const workers of ['1', '2']) {
  describe(`a host of ${workers} workers that follows releases and has none`, () => {
    const workspace = useWorkspace(`${CODE_PUBLISHER},modgate.modules.read`);
    let provider: EchoProvider;
    let backend: Backend;
    let proxy: TcpProxy;
    const hosts: RunningHost[] = [];

    before(async function () {
      await requirePostgres(this);
      provider = await startEchoProvider();
    });
    after(() => provider.close());
    beforeEach(async () => {
      backend = createPostgresBackend();
      const server = new URL(POSTGRES_URL);
      proxy = await startTcpProxy({ host: server.hostname, port: Number(server.port || 5432) });
      const routes = [{ method: 'GET', path: '/items', capability: 'crm.read' }] as const;
      workspace.write(
        'crm.json',
        describeModule('crm', provider.url, routes, { mount: [{ path: '/shop' }] }),
      );
    });
    const stopHosts = async () => {
      for (const host of hosts.splice(0)) await host.stop();
    };
    afterEach(async () => {
      await stopHosts();
      await proxy.cut();
      await backend.dispose();
    });

    const keep = (host: RunningHost) => {
      hosts.push(host);
      return host;
    };
    const describeStore = (store: string, more: readonly string[]) => ({
      args: ['--modules', 'store:', '--store', store, '--fleet', 'shop', ...more],
    });
    /** One worker runs in the process of the test, which costs a third of a process of its own. */
    const startIn = workers === '1' ? startHost : startHostProcess;
    const start = async (store: string, more: readonly string[] = []) =>
      keep(await startIn(describeStore(store, ['--workers', workers, ...more])));
    /** Publishes from the process of the test. */
    const publish = async (more: readonly string[] = []) => {
      const publisher = keep(await startHost(describeStore(url(), more)));
      expect((await workspace.publish(publisher)).code).to.equal(0);
      return publisher;
    };
    const url = () => backend.url ?? '';
    const proxied = () => {
      const address = new URL(url());
      address.host = `127.0.0.1:${proxy.port}`;
      return address.href;
    };
    const statusOf = async (host: RunningHost, target: string) =>
      (await call(host, { target, as: CALLER })).status;
    const expectNoRelease = async (host: RunningHost) => {
      const ready = await call(host, { target: '/readyz' });
      expect([ready.status, parseJson(ready)['detail']]).to.deep.equal([503, 'no release']);
      for (const target of [ROUTE, MOUNT]) {
        const answer = await call(host, { target, as: CALLER });
        expect(answer.status, target).to.equal(503);
        expect(parseJson(answer)).to.include({ detail: 'the host has no release' });
        expect(headerValues(answer.headers, 'retry-after')).to.deep.equal(['1']);
      }
      expect((await call(host, { target: ROUTE, as: null })).status).to.equal(401);
      expect((await call(host, { target: '/livez' })).status).to.equal(200);
    };
    /** As often as any worker may answer. */
    const expectServed = async (host: RunningHost) => {
      for (let count = 0; count < 8; count += 1) {
        expect([await statusOf(host, ROUTE), await statusOf(host, MOUNT)]).to.deep.equal([
          200, 200,
        ]);
      }
    };
    /** Waits for five 200 in a row, because each request may reach another worker. */
    const untilServed = async (host: RunningHost, target: string) => {
      let inARow = 0;
      await waitUntil(`${target} of the host`, async () => {
        inARow = (await statusOf(host, target)) === 200 ? inARow + 1 : 0;
        return inARow > 4;
      });
    };
    const untilReady = (host: RunningHost) => untilServed(host, '/readyz');

    it('is not ready while the store has not answered, and serves as soon as it is ready', async () => {
      await publish();
      await proxy.cut();
      const host = await start(proxied());
      await expectNoRelease(host);
      const bridge = {
        method: 'POST',
        target: BRIDGE,
        as: CALLER,
        body: Buffer.from('{}'),
      } as const;
      expect((await call(host, bridge)).status).not.to.equal(404);
      const failures = host.logs().filter(({ level }) => level === 'warn' || level === 'error');
      expect(failures.map(({ msg }) => msg)).to.include('releases cannot be followed');
      expect(failures.filter((line) => 'err' in line)).to.deep.equal([]);
      await proxy.restore();
      await untilReady(host);
      await expectServed(host);
    });

    it('is not ready while it is older than the release', async () => {
      const publisher = await start(url());
      expect((await workspace.publish(publisher)).code).to.equal(0);
      await untilServed(publisher, ROUTE);
      const schema = new URL(url()).searchParams.get('schema');
      await runSql(`update ${schema}.release set least_version = '99.0.0'`);
      const host = await start(url());
      await expectNoRelease(host);
      // It has a copy of the release.
      await expectServed(publisher);
      await runSql(`update ${schema}.release set least_version = '0.1.0'`);
      await untilReady(host);
      await expectServed(host);
    });

    it('is ready when the store has answered that there is none', async () => {
      const host = await start(url());
      await untilReady(host);
      expect(await statusOf(host, ROUTE)).to.equal(404);
      expect(await statusOf(host, MOUNT)).to.equal(404);
      expect((await workspace.publish(host)).code).to.equal(0);
      await waitUntil('the release', async () => (await statusOf(host, ROUTE)) === 200);
    });

    it('is ready with its copy while the store is down', async () => {
      const state = ['--state', `${workspace.folder}/../state`];
      const first = await publish(state);
      await waitUntil('the release', async () => (await statusOf(first, ROUTE)) === 200);
      await stopHosts();
      await proxy.cut();
      const again = await start(proxied(), state);
      await untilReady(again);
      await expectServed(again);
    });

    it('keeps its release while the store has lost it, and follows the next one', async () => {
      const state = ['--state', `${workspace.folder}/../state`];
      const host = await start(proxied(), state);
      expect((await workspace.publish(host)).code).to.equal(0);
      await untilServed(host, ROUTE);
      const lost = workspace.base();
      await proxy.cut();
      const schema = new URL(url()).searchParams.get('schema');
      for (const table of ['release', 'release_part', 'release_state']) {
        await runSql(`delete from ${schema}.${table}`);
      }
      await proxy.restore();
      await waitUntil('the problem', async () => {
        return (
          (await readReleases(host)).hosts?.[0]?.problem?.includes('the store has none') === true
        );
      });
      const isKept = ({ msg }: Record<string, unknown>) => msg === 'release not served';
      await waitUntil('the log', () => host.logs().some(isKept));
      expect(host.logs().find(isKept)).to.include({ level: 'error', release: null, served: lost });
      await expectServed(host);
      // It locks the state, and so creates it.
      const files = { 'crm.json': describeModule('crm', provider.url, []) };
      expect((await sendRelease(host, files, { base: lost })).status).to.equal(409);
      await host.stop();
      const again = await start(url(), state);
      await expectServed(again);
      const published = await workspace.publish(again, '--wait');
      expect({ ...published, stdout: '' }).to.deep.equal({ code: 0, stderr: '', stdout: '' });
      expect((await readReleases(again)).active).to.equal(workspace.base());
      await expectServed(again);
    });
  });
}
