import { expect } from 'chai';
import type { Log } from '../../core/contract/index.js';
import { connectStore } from '../../core/store/open-store.js';
import { openSqlite } from '../../core/store/sqlite-database.js';
import { sqliteFile } from '../../core/store/sqlite-file.js';
import type { OpenDatabase } from '../../core/store/store-connection.js';
import { StoreUnavailable } from '../../core/store/store-unavailable.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type Backend, createSqliteBackend, silent } from './backend.js';
import { expectUnavailable, write } from './drafts.js';
import { holdLock } from './holder.js';

describe('reconnecting store', () => {
  let backend: Backend;
  beforeEach(() => {
    backend = createSqliteBackend();
  });
  afterEach(() => backend.dispose());

  const openAfter = (failures: readonly unknown[]): OpenDatabase => {
    const left = [...failures];
    return async (onChange) => {
      if (left.length > 0) throw left.shift();
      return openSqlite(backend.stateDir, onChange);
    };
  };

  it('logs each reason once, and when it is available again', async () => {
    const lines: string[] = [];
    const keep = ({ reason }: Readonly<Record<string, unknown>>, message: string) =>
      void lines.push(`${message} ${reason}`);
    const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
    const unreachable = () => new StoreUnavailable('unreachable', { nativeCode: 'ECONNREFUSED' });
    const failures = [unreachable(), unreachable(), new StoreUnavailable('denied')];
    const store = connectStore({ open: openAfter(failures), keys: null, log });
    await store.start(1000);
    await waitUntil('the store is open', () => store.unavailable === null);
    const unavailable = 'store unavailable: config operations respond with 503';
    expect(lines).to.deep.equal([
      `${unavailable} the database server does not respond (ECONNREFUSED)`,
      `${unavailable} the database server denies access: check the user, the database and its permissions`,
      'store available again undefined',
    ]);
    await store.close();
  });

  it('reports an unknown error as a failure and logs its cause', async () => {
    const causes: unknown[] = [];
    const log: Log = { ...silent, warn: ({ err }) => causes.push(err) };
    const surprise = new TypeError('surprise');
    const store = connectStore({ open: openAfter([surprise]), keys: null, log });
    await store.start(1000);
    const error = await expectUnavailable(store.config.read('crm'), 'failed');
    expect(error.message).to.equal('the store failed');
    expect(causes).to.deep.equal([surprise]);
    await store.close();
  });

  it('does not delay the start beyond its timeout', async () => {
    let open = () => {};
    const opening: OpenDatabase = async (onChange) => {
      await new Promise<void>((resolve) => {
        open = resolve;
      });
      return openSqlite(backend.stateDir, onChange);
    };
    const store = connectStore({ open: opening, keys: null, log: silent });
    await store.start(20);
    await expectUnavailable(store.config.read('crm'), 'opening');
    const notified: (string | null)[] = [];
    store.onConfigChange((module) => notified.push(module));
    open();
    await waitUntil('the store is open', () => store.unavailable === null);
    expect(notified).to.deep.equal([null]);
    await write(store, 'a', 1);
    await store.close();
  });

  it('rejects pending operations when it is closed', async () => {
    const store = await backend.open();
    const release = await holdLock(sqliteFile(backend.stateDir), 'writing');
    const writing = expectUnavailable(write(store, 'a', 1), 'closed');
    await store.close();
    await writing;
    await release();
  });

  it('closes a database that opens after the store was closed', async () => {
    let open = () => {};
    let closes = 0;
    const opening: OpenDatabase = async (onChange) => {
      await new Promise<void>((resolve) => {
        open = resolve;
      });
      const database = await openSqlite(backend.stateDir, onChange);
      return { ...database, close: () => database.close().finally(() => closes++) };
    };
    const store = connectStore({ open: opening, keys: null, log: silent });
    await store.start(20);
    await store.close();
    open();
    await waitUntil('the database is closed', () => closes === 1);
    await expectUnavailable(store.config.read('crm'), 'closed');
  });

  it('is opened by its first use, and rejects what is too much while it is opened', async () => {
    let open = () => {};
    const opening: OpenDatabase = async (onChange) => {
      await new Promise<void>((resolve) => {
        open = resolve;
      });
      return openSqlite(backend.stateDir, onChange);
    };
    const options = { open: opening, keys: null, log: silent, maxOperations: 3 };
    const store = connectStore(options);
    expect(store.unavailable).to.equal(null);
    const reads = [1, 2, 3].map(() => store.config.read('crm'));
    await expectUnavailable(store.config.read('crm'), 'busy');
    open();
    await Promise.all(reads);
    expect((await store.config.read('crm')).values).to.have.property('size', 0);
    await store.close();
  });

  it('leaves no rejection behind when it cannot be opened, and is opened again', async () => {
    const cause = new TypeError('injected fault');
    const store = connectStore({ open: openAfter([cause]), keys: null, log: silent });
    const unhandled: unknown[] = [];
    const collect = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', collect);
    void store.start();
    const rejection = await store.config.read('crm').catch((error: unknown) => error);
    await new Promise(setImmediate);
    process.off('unhandledRejection', collect);
    expect(rejection).to.be.instanceOf(StoreUnavailable).and.include({ code: 'failed', cause });
    expect(unhandled).to.deep.equal([]);
    await waitUntil('the store is open', () => store.unavailable === null);
    expect((await store.config.read('crm')).values).to.have.property('size', 0);
    await store.close();
  });
});
