import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { Store } from '../../core/store/store.js';
import { createWorkplace } from '../support/cli/run-in.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../support/start-host.js';
import { started } from '../support/started.js';
import { openStore } from '../support/store/open-store.js';
import {
  type PostgresPair,
  requirePostgresPrograms,
  startPostgresPair,
} from '../support/store/postgres-pair.js';
import { silent } from './backend.js';
import { expectUnavailable, readValue, write } from './drafts.js';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';

/** Several attempts to open the store. */
const ON_STANDBY_MS = 3000;
const READ_ONLY = 'the database server is read-only: --store must lead to the primary';

describe('PostgreSQL store that fails over', () => {
  const target = { host: '127.0.0.1', port: 0 };
  let pair: PostgresPair | undefined;
  let proxy: TcpProxy;
  let host: HostProcess | undefined;
  const stores: Store[] = [];

  const open = async (port: number) => {
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const store = await openStore({ url, stateDir: '', keys: null, log: silent });
    stores.push(store);
    return store;
  };
  const mayWrite = (store: Store, value: number) =>
    write(store, 'a', value).then(
      () => true,
      () => false,
    );
  /** An idle store finds it out when it is used. */
  const isReadOnly = async (store: Store) =>
    !(await mayWrite(store, 2)) && store.unavailable?.message === READ_ONLY;

  before(function () {
    requirePostgresPrograms(this);
  });
  beforeEach(async () => {
    pair = await startPostgresPair();
    target.port = pair.primary.port;
    proxy = await startTcpProxy(target);
  });
  afterEach(async () => {
    await host?.stop();
    host = undefined;
    await Promise.all(stores.splice(0).map((store) => store.close()));
    if (pair === undefined) return;
    await proxy.cut();
    await pair.stop();
    pair = undefined;
  });

  it('rejects a standby, and is back within seconds after its promotion', async () => {
    const { primary, standby } = started(pair);
    const store = await open(proxy.port);
    await write(store, 'a', 1);
    const serving = await startHostProcess({
      args: [
        '--store',
        `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
        '--keep-calls',
        '9',
      ],
    });
    host = serving;
    const countCalls = async () => {
      const { rows } = await standby.run('select count(*)::int as n from modgate.call_record');
      return rows[0]?.n as number;
    };
    await call(serving, { target: '/modules/crm/http/items', as: 'dev-service:crm-sync' });
    await waitUntil('the record on the standby', async () => (await countCalls()) === 1);
    await primary.kill();
    target.port = standby.port;
    await proxy.cut();
    await proxy.restore();
    await waitUntil('the reason', () => isReadOnly(store));
    await new Promise((resolve) => setTimeout(resolve, ON_STANDBY_MS));
    await expectUnavailable(write(store, 'a', 2), 'read_only_server');
    expect((await call(serving, { target: '/readyz' })).status).to.equal(200);
    await call(serving, { target: '/modules/crm/http/items', as: 'dev-service:crm-sync' });
    await waitUntil('the reason in the log', () =>
      serving.logs().some(({ reason }) => reason === READ_ONLY),
    );
    expect(await countCalls()).to.equal(1);
    await standby.run('select pg_promote()');
    await waitUntil('a write', () => mayWrite(store, 3));
    await waitUntil('the record', async () => (await countCalls()) === 2);
    const notified: (string | null)[] = [];
    store.onConfigChange((module) => notified.push(module));
    await write(await open(standby.port), 'a', 4);
    await waitUntil('the notification', () => notified.includes('crm'));
    expect(await readValue(store, 'crm/a')).to.equal(4);
  });

  it('leaves a server that becomes read-only while it is connected', async () => {
    const { primary } = started(pair);
    const store = await open(proxy.port);
    await write(store, 'a', 1);
    const sessions = async () => {
      const { rows } = await primary.run(
        "select pid from pg_stat_activity where application_name = 'modgate' order by pid",
      );
      return rows.map(({ pid }) => pid as number);
    };
    const before = await sessions();
    const setReadOnly = async (value: 'on' | 'off') => {
      await primary.run(`alter system set default_transaction_read_only = ${value}`);
      await primary.run('select pg_reload_conf()');
    };
    await setReadOnly('on');
    await waitUntil('the listener ends its session', async () => {
      const now = await sessions();
      return before.some((pid) => !now.includes(pid));
    });
    await waitUntil('the reason', () => isReadOnly(store));
    const place = createWorkplace();
    mkdirSync(`${place.folder}/modules.d`);
    const where = ['--store', `postgres://postgres@127.0.0.1:${primary.port}/postgres`];
    const checked = await place.run(['serve', '--check', '--connect', ...where]);
    expect(checked.stdout).to.include(
      `the store at 127.0.0.1:${primary.port} cannot be used: ${READ_ONLY}`,
    );
    expect((await place.run(['audit', ...where])).code).to.equal(0);
    await setReadOnly('off');
    await waitUntil('a write', () => mayWrite(store, 3));
    const notified: (string | null)[] = [];
    store.onConfigChange((module) => notified.push(module));
    await write(await open(primary.port), 'a', 4);
    await waitUntil('the notification', () => notified.includes('crm'));
  });
});
