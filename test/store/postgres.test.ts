import { expect } from 'chai';
import type { Log } from '../../core/contract/index.js';
import { RELEASE_CHANGE } from '../../core/store/database.js';
import { findOlderStore } from '../../core/store/older-store.js';
import { waitUntil } from '../support/http/wait-until.js';
import { openStore } from '../support/store/open-store.js';
import {
  type Backend,
  createPostgresBackend,
  POSTGRES_URL,
  requirePostgres,
  runSql,
  silent,
  withSchema,
} from './backend.js';
import { createReleaseDraft, DRAFT, expectUnavailable, readValue, write } from './drafts.js';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';

describe('PostgreSQL store', () => {
  let backend: Backend;
  before(async function () {
    await requirePostgres(this);
  });
  afterEach(() => backend.dispose());

  it('keeps all its tables in the schema of the URL', async () => {
    backend = createPostgresBackend();
    await backend.open();
    const schema = new URL(backend.url ?? '').searchParams.get('schema');
    const { rows } = await runSql(
      `select tablename from pg_tables where schemaname = '${schema}' order by 1`,
    );
    expect(rows.map(({ tablename }) => tablename)).to.deep.equal([
      'approval',
      'audit_head',
      'audit_row',
      'call_record',
      'config_module',
      'config_value',
      'fleet_host',
      'fleet_lease',
      'release',
      'release_host',
      'release_part',
      'release_state',
      'schema_version',
      'store_secret',
      'surface_lock',
      'surface_record',
    ]);
  });

  it('keeps stores of two schemas apart', async () => {
    backend = createPostgresBackend();
    const other = createPostgresBackend();
    try {
      const [first, two] = [await backend.open(), await other.open()];
      const notified: (string | null)[] = [];
      two.onConfigChange((module) => notified.push(module));
      await write(first, 'a', 1);
      await write(two, 'b', 1, { module: 'own' });
      expect((await two.config.read('crm')).revision).to.equal(0);
      expect(notified).to.deep.equal(['own']);
    } finally {
      await other.dispose();
    }
  });

  it('reports that access is denied without naming the database or user', async () => {
    backend = createPostgresBackend(withDatabase('no_such_database'));
    const store = await backend.open();
    const { message } = await expectUnavailable(store.config.read('crm'), 'denied');
    expect(message).to.match(/^the database server denies access: .* \(3D000\)$/);
  });

  it('ignores notifications of other programs', async () => {
    backend = createPostgresBackend();
    const store = await backend.open();
    const notified: (string | null)[] = [];
    store.onConfigChange((module) => notified.push(module));
    const schema = new URL(backend.url ?? '').searchParams.get('schema');
    await runSql(`notify "modgate.${schema}"`);
    await runSql(`notify "modgate.${schema}", '{'`);
    await write(await backend.open(), 'a', 1);
    await waitUntil('the change is notified', () => notified.length > 0);
    expect(notified).to.deep.equal(['crm']);
  });

  it('notifies other processes of a change of the releases', async () => {
    backend = createPostgresBackend();
    const notified: (string | null)[] = [];
    (await backend.open()).onConfigChange((module) => notified.push(module));
    const { releases } = await backend.open();
    const { outcome: _outcome, value: _value, ...audit } = DRAFT;
    await releases.publish('shop', createReleaseDraft('sha256:1', null, ['{}']), null, audit);
    await waitUntil('the notification', () => notified.length > 0);
    expect(notified).to.deep.equal([RELEASE_CHANGE]);
  });

  it('keeps a host that another one with its id wants to remove, and asks for what it serves', async () => {
    backend = createPostgresBackend();
    const { fleetHosts } = await backend.open();
    const beat = (serves: readonly string[] | null) =>
      fleetHosts.beat({
        ...{ fleet: 'shop', id: 'a', version: '0.1.0', address: '', state: 'ready' },
        ...{ workers: 1, digest: '', rejected: [], serves },
      });
    const { startedAt, isComplete } = await beat(['crm']);
    expect(isComplete).to.equal(true);
    await fleetHosts.remove('shop', 'a', '2026-01-01T00:00:00.000Z');
    expect(await beat(null)).to.include({ startedAt, isComplete: true });
    await fleetHosts.remove('shop', 'a', startedAt);
    expect(await beat(null)).to.include({ isComplete: false });
    expect(await beat(['crm'])).to.include({ isComplete: true });
  });

  it('keeps the start of a host that waits for a release, until it starts again', async () => {
    backend = createPostgresBackend();
    const { fleetHosts } = await backend.open();
    const beat = async (address: string, state: 'starting' | 'ready') => {
      const served = { workers: 1, digest: '', rejected: [], serves: ['crm'] };
      const host = { fleet: 'shop', id: 'a', version: '0.1.0', address, state };
      return (await fleetHosts.beat({ ...host, ...served })).startedAt;
    };
    const first = await beat('', 'starting');
    expect(await beat('http://a', 'ready')).to.equal(first);
    expect(await beat('http://a', 'starting')).to.equal(first);
    expect((await beat('', 'starting')) > first).to.equal(true);
  });

  it('removes what a host has reported of releases with the host, unless a canary needs it', async () => {
    backend = createPostgresBackend();
    const { fleetHosts, releases } = await backend.open();
    const schema = new URL(backend.url ?? '').searchParams.get('schema');
    const started = new Map<string, string>();
    const leave = (id: string) => fleetHosts.remove('shop', id, started.get(id) ?? '');
    const join = async (id: string) => {
      const served = { workers: 1, digest: '', rejected: [], serves: null };
      const host = { version: '0.1.0', address: '', state: 'ready' } as const;
      const { startedAt } = await fleetHosts.beat({ fleet: 'shop', id, ...host, ...served });
      started.set(id, startedAt);
      await releases.report('shop', { host: id, release: null, problem: null, figures: null });
    };
    const reported = async () => (await releases.listHosts('shop')).map(({ host }) => host);
    for (const id of ['a', 'b', 'c', 'd']) await join(id);
    await leave('a');
    expect(await reported()).to.deep.equal(['b', 'c', 'd']);
    await runSql(`update ${schema}.fleet_host set heartbeat_at = '2026-01-01' where id = 'b'`);
    await fleetHosts.prune('shop');
    expect(await reported()).to.deep.equal(['c', 'd']);
    await runSql(`insert into ${schema}.release_state values ('shop', null, '{}')`);
    await leave('c');
    expect(await reported()).to.deep.equal(['c', 'd']);
    await runSql(`update ${schema}.release_state set canary = null`);
    await fleetHosts.prune('shop');
    expect(await reported()).to.deep.equal(['d']);
  });

  for (const process of ['process', 'worker']) {
    describe(`with an unreachable server, in a ${process}`, () => {
      let proxy: TcpProxy;
      let proxied: string;
      beforeEach(async () => {
        const { hostname, port } = new URL(POSTGRES_URL);
        proxy = await startTcpProxy({ host: hostname, port: Number(port === '' ? 5432 : port) });
        const url = new URL(POSTGRES_URL);
        url.host = `127.0.0.1:${proxy.port}`;
        proxied = url.href;
        backend = createPostgresBackend(proxied, process === 'worker');
      });
      afterEach(async () => {
        proxy.unblock();
        await backend.dispose();
        await proxy.cut();
      });

      it('is opened when the server comes up after the start', async () => {
        await proxy.cut();
        const store = await backend.open();
        const error = await expectUnavailable(store.config.read('crm'), 'unreachable');
        expect(error.message).to.equal('the database server does not respond (ECONNREFUSED)');
        const notified: (string | null)[] = [];
        store.onConfigChange((module) => notified.push(module));
        await proxy.restore();
        await waitUntil('the store is open', () => store.unavailable === null);
        expect(notified).to.deep.equal([null]);
        expect(await write(store, 'a', 1)).to.include({ revision: 1 });
      });

      it('is back within seconds with all acknowledged writes, and notifies listeners', async () => {
        const lines: string[] = [];
        const keep = (_fields: object, message: string) => void lines.push(message);
        const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
        const store = await backend.open(undefined, log);
        await write(store, 'a', 1);
        const notified: (string | null)[] = [];
        store.onConfigChange((module) => notified.push(module));
        await proxy.cut();
        await expectUnavailable(write(store, 'a', 2), 'unreachable');
        await expectUnavailable(store.config.read('crm'), 'unreachable');
        await proxy.restore();
        await waitUntil('the store is open', () => store.unavailable === null);
        await waitUntil('the notification', () => notified.includes(null));
        expect(await readValue(store, 'crm/a')).to.equal(1);
        expect(await write(store, 'a', 3)).to.include({ revision: 2 });
        expect(await store.audit.verify()).to.deep.equal({ rows: 2, brokenAt: null });
        expect(lines.at(-1)).to.equal('store available again');
      });

      it('notifies listeners when only the listening connection broke', async () => {
        const [store, other] = [await backend.open(), await backend.open()];
        const notified: (string | null)[] = [];
        store.onConfigChange((module) => notified.push(module));
        // The store is not used meanwhile, so the pool does not notice.
        await proxy.cut();
        await proxy.restore();
        await waitUntil('the notification', () => notified.includes(null));
        await waitUntil('the other is open', () => other.unavailable === null);
        await write(other, 'a', 1).catch(() => write(other, 'a', 1));
        await waitUntil('the change is notified', () => notified.includes('crm'));
      });

      it('fails when the server hangs', async () => {
        const store = await backend.open();
        await write(store, 'a', 1);
        proxy.block();
        const hung = await backend.open();
        expect(hung.unavailable?.code).to.equal('unreachable');
        await expectUnavailable(write(store, 'a', 2), 'unreachable');
        await expectUnavailable(store.config.read('crm'), 'unreachable');
        proxy.unblock();
        await waitUntil('the store is open', () => store.unavailable === null);
        expect((await store.audit.verify()).brokenAt).to.equal(null);
      });

      it('is not awaited by a start when the server hangs', async () => {
        proxy.block();
        expect(await findOlderStore(proxied, '')).to.equal(null);
      });

      it('does not delay shutdown', async () => {
        const store = await backend.open();
        await write(store, 'a', 1);
        proxy.block();
        await store.close();
      });

      it('does not block others when a host hangs in the middle of a write', async () => {
        const healthy = await openStore({
          url: withSchema(
            POSTGRES_URL,
            new URL(backend.url ?? '').searchParams.get('schema') ?? '',
          ),
          stateDir: '',
          keys: null,
          log: silent,
        });
        try {
          const store = await backend.open();
          const writes = Array.from({ length: 20 }, () => write(store, 'a', 1).catch(() => null));
          proxy.block();
          await Promise.all(writes);
          let row: object | null = null;
          await waitUntil('another host writes', async () => {
            row = await healthy.audit.append(DRAFT).catch(() => null);
            return row !== null;
          });
          expect((await healthy.audit.verify()).brokenAt).to.equal(null);
        } finally {
          await healthy.close();
        }
      });
    });
  }
});

function withDatabase(name: string): string {
  const url = new URL(POSTGRES_URL);
  url.pathname = `/${name}`;
  return url.href;
}
