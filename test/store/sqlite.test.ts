import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Log } from '../../core/contract/index.js';
import type { Database } from '../../core/store/database.js';
import { parseStoreKeys } from '../../core/store/encryption-keys.js';
import { connectStore, encryptClearValues, openAuditReader } from '../../core/store/open-store.js';
import { openSqlite } from '../../core/store/sqlite-database.js';
import { sqliteFile } from '../../core/store/sqlite-file.js';
import type { OpenDatabase } from '../../core/store/store-connection.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { mountSmallDisk } from '../support/chaos/small-disk.js';
import { waitUntil } from '../support/http/wait-until.js';
import { openStore } from '../support/store/open-store.js';
import { createFolder } from '../support/temporary-folder.js';
import { type Backend, createSqliteBackend, silent } from './backend.js';
import { createKey, DRAFT, expectUnavailable, readValue, write } from './drafts.js';
import { holdLock } from './holder.js';

describe('SQLite store', () => {
  let backend: Backend;
  let file: string;
  beforeEach(() => {
    backend = createSqliteBackend();
    file = sqliteFile(backend.stateDir);
  });
  afterEach(() => backend.dispose());

  const fill = async () => {
    const store = await backend.open();
    await write(store, 'page_size', 1);
    await store.close();
  };

  it('creates a folder and a file that only its user can read', async () => {
    const stateDir = join(backend.stateDir, 'a', 'b ?#%41');
    const store = await openStore({ url: null, stateDir, keys: null, log: silent });
    await write(store, 'page_size', 1);
    const modes = ['', '-wal', '-shm'].map(
      (end) => statSync(sqliteFile(stateDir) + end).mode & 0o777,
    );
    expect(modes).to.deep.equal([0o600, 0o600, 0o600]);
    const reader = await openAuditReader(null, stateDir);
    expect((await reader.verify()).rows).to.equal(1);
    await reader.close();
    await store.close();
  });

  it('uses a write-ahead log and syncs each commit', async () => {
    const { query } = await backend.openDatabase();
    const read = async (name: string) =>
      Object.values((await sql.raw<object>(`pragma ${name}`).execute(query)).rows[0] ?? {})[0];
    const FULL = 2;
    expect([await read('journal_mode'), await read('synchronous')]).to.deep.equal(['wal', FULL]);
  });

  it('is one complete file after it was closed', async () => {
    await fill();
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    expect(await readValue(await backend.open(), 'crm/page_size')).to.equal(1);
  });

  it('contains no clear text after it was encrypted and closed', async () => {
    const store = await backend.open();
    const secrets = Array.from({ length: 50 }, (_, n) => `hunter2-${n}-`.repeat(40));
    for (const [n, secret] of secrets.entries()) {
      await write(store, `k${n}`, secret, { sensitive: true });
    }
    await store.close();
    expect(readFileSync(file).includes('hunter2')).to.equal(true);
    const keys = parseStoreKeys(createKey());
    if (keys === null) throw new Error('no key');
    await encryptClearValues(null, backend.stateDir, keys, silent);
    const wal = `${file}-wal`;
    const left = [file, wal].filter(
      (path) => existsSync(path) && readFileSync(path).includes('hunter2'),
    );
    expect(left).to.deep.equal([]);
  });

  it('is readable while another process writes, and rejects writes after two seconds', async () => {
    const store = await backend.open();
    await write(store, 'page_size', 1);
    const release = await holdLock(file, 'writing');
    const started = Date.now();
    let isRejected = false;
    const rejected = expectUnavailable(write(store, 'page_size', 2), 'locked').finally(() => {
      isRejected = true;
    });
    expect(await readValue(store, 'crm/page_size')).to.equal(1);
    // Timers fire while the write waits for the lock.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isRejected).to.equal(false);
    const { message } = await rejected;
    expect(message).to.equal('the store is locked by another process (SQLITE_BUSY)');
    expect(Date.now() - started).to.be.at.least(1900);
    await release();
    expect(await write(store, 'page_size', 2)).to.include({ revision: 2 });
  });

  it('writes to the disk to check that it can', async () => {
    const store = await backend.open();
    await write(store, 'page_size', 1);
    const { size } = statSync(`${file}-wal`);
    await store.audit.assertWritable();
    expect(statSync(`${file}-wal`).size).to.be.greaterThan(size);
  });

  it('waits for the short lock of another process', async () => {
    const store = await backend.open();
    const release = await holdLock(file, 'writing');
    const written = write(store, 'page_size', 2);
    await release();
    expect(await written).to.include({ revision: 1 });
  });

  it('opens at once after a short exclusive lock', async () => {
    const release = await holdLock(file, 'everything');
    const opening = backend.open();
    // Long enough to meet the lock, far below the two seconds of waiting for it.
    setTimeout(() => void release(), 300);
    expect((await opening).unavailable).to.equal(null);
  });

  it('opens later after a long exclusive lock', async () => {
    const release = await holdLock(file, 'everything');
    const store = await backend.open();
    await expectUnavailable(store.config.read('crm'), 'locked');
    expect(store.unavailable?.message).to.match(/^the store is locked by another process/);
    const notified: (string | null)[] = [];
    store.onConfigChange((module) => notified.push(module));
    await release();
    await waitUntil('the store is open', () => store.unavailable === null);
    expect(await write(store, 'page_size', 1)).to.include({ revision: 1 });
    expect(notified).to.deep.equal([null, 'crm']);
  });

  for (const { state, damage } of [
    { state: 'garbage', damage: () => writeFileSync(file, Buffer.alloc(9000, 'garbage')) },
    { state: 'cut short', damage: () => truncateSync(file, 4096 + 100) },
  ]) {
    it(`reports damage when the file is ${state}, leaves it unchanged, and recovers`, async () => {
      await fill();
      const whole = readFileSync(file);
      damage();
      const damaged = readFileSync(file);
      const store = await backend.open();
      await expectUnavailable(store.config.read('crm'), 'damaged');
      await expectUnavailable(write(store, 'page_size', 2), 'damaged');
      expect(readFileSync(file).equals(damaged)).to.equal(true);
      writeFileSync(file, whole);
      await waitUntil('the store is open', () => store.unavailable === null);
      expect(await readValue(store, 'crm/page_size')).to.equal(1);
    });
  }

  it('cannot be opened while the file is a folder or the folder a file', async () => {
    mkdirSync(file);
    const first = await backend.open();
    await expectUnavailable(first.config.read('crm'), 'cannot_open');
    const stateDir = join(backend.stateDir, 'state');
    writeFileSync(stateDir, '');
    const second = await openStore({ url: null, stateDir, keys: null, log: silent });
    await expectUnavailable(second.audit.append(DRAFT), 'cannot_open');
    rmSync(file, { recursive: true });
    rmSync(stateDir);
    await waitUntil('the first is open', () => first.unavailable === null);
    await waitUntil('the second is open', () => second.unavailable === null);
    await second.close();
  });

  it('reports that it is read-only and remains readable', async () => {
    await fill();
    const { store, database } = await openAndReach();
    await sql`pragma query_only = on`.execute(database.query);
    expect(await readValue(store, 'crm/page_size')).to.equal(1);
    await expectUnavailable(write(store, 'page_size', 2), 'read_only');
    expect(store.unavailable).to.equal(null);
    await store.close();
  });

  it('reports a full disk, loses nothing, and continues when there is space', async () => {
    const { log, lines } = createRecordedLog();
    const { store, database } = await openAndReach(log);
    const limitPages = (pages: number) =>
      sql.raw(`pragma max_page_count = ${pages}`).execute(database.query);
    await write(store, 'page_size', 1);
    await limitPages(1);
    const error = await expectUnavailable(write(store, 'big', 'x'.repeat(100_000)), 'full');
    expect(error.message).to.equal('the disk of the store is full (SQLITE_FULL)');
    await expectUnavailable(write(store, 'big', 'x'.repeat(100_000)), 'full');
    expect(lines).to.deep.equal([
      {
        level: 'warn',
        fields: { code: 'full', reason: 'the disk of the store is full (SQLITE_FULL)' },
        message: 'store operation failed',
      },
    ]);
    const { revision, values } = await store.config.read('crm');
    expect([revision, values.size]).to.deep.equal([1, 1]);
    await limitPages(10_000);
    expect(await write(store, 'big', 'x'.repeat(100_000))).to.include({ revision: 2 });
    expect(await store.audit.verify()).to.deep.equal({ rows: 2, brokenAt: null });
    await store.close();
  });

  it('reports a disk without space for its shared memory as full', async function () {
    const disk = mountSmallDisk(join(createFolder(), 'disk'), 524_288);
    if (disk === null) return this.skip();
    try {
      disk.fill();
      const filler = join(disk.path, 'filler');
      truncateSync(filler, statSync(filler).size - 20_480);
      const error = await openSqlite(join(disk.path, 'state'), () => {}).catch((reason) => reason);
      expect(error).to.include({ code: 'full', message: 'the disk of the store is full' });
    } finally {
      disk.unmount();
    }
  });

  for (const { change, replace } of [
    { change: 'deleted', replace: () => rmSync(file) },
    { change: 'moved away', replace: () => renameSync(file, `${file}.old`) },
  ]) {
    it(`acknowledges no write to a file that was ${change}, and creates a new one`, async () => {
      const store = await backend.open();
      await write(store, 'page_size', 1);
      replace();
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
      await expectUnavailable(write(store, 'page_size', 2), 'moved');
      await waitUntil('the store is open', () => store.unavailable === null);
      expect(await write(store, 'page_size', 3)).to.include({ revision: 1 });
      expect(existsSync(file)).to.equal(true);
      expect(await readValue(await backend.open(), 'crm/page_size')).to.equal(3);
    });
  }

  for (const { version, code } of [
    { version: 99, code: 'newer_schema' },
    { version: 9, code: 'older_schema' },
  ] as const) {
    it(`does not change a byte of a file that it rejects: ${code}`, async () => {
      // Created by another process in another journal mode, which a newer modgate may choose.
      const program = `const database = new (require('libsql'))(process.argv[1]);
        database.exec('create table schema_version (version integer, applied_at text)');
        database.exec("insert into schema_version values (${version}, '')");`;
      execFileSync(process.execPath, ['-e', program, file]);
      const before = readFileSync(file);
      const store = await backend.open();
      await expectUnavailable(write(store, 'page_size', 2), code);
      await store.close();
      expect(readFileSync(file).equals(before)).to.equal(true);
    });
  }

  /** Opens a store and returns its connection too. */
  async function openAndReach(
    log: Log = silent,
  ): Promise<{ store: ReturnType<typeof connectStore>; database: Database }> {
    const opened: Database[] = [];
    const open: OpenDatabase = async (onChange) => {
      const database = await openSqlite(backend.stateDir, onChange);
      opened.push(database);
      return database;
    };
    const store = connectStore({ open, keys: null, log });
    await store.start(1000);
    const [database] = opened;
    if (database === undefined) throw new Error('the store did not open');
    return { store, database };
  }
});
