import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { Kysely } from 'kysely';
import type { Database } from '../../core/store/database.js';
import { migrate, type Schema } from '../../core/store/migrations.js';
import { TABLES } from '../../core/store/parts.js';
import type { Store } from '../../core/store/store.js';
import { type Tables, TEXT, TEXT_OR_NULL } from '../../core/store/tables.js';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import { startHostProcess } from '../support/start-host.js';
import { BACKENDS, useBackend } from './backend.js';
import { expectUnavailable, readValue, write } from './drafts.js';

const FIRST_VERSION = 15;
const VERSION = 20;
const NEWER = 99;
const OLDER = 9;

const readVersions = async ({ query }: Database) => {
  const rows = await query.selectFrom('schema_version').select('version').execute();
  return rows.map(({ version }) => version);
};

const addVersion = ({ query }: Database, version: number, least_reader: number | null = null) =>
  query.insertInto('schema_version').values({ version, applied_at: 'x', least_reader }).execute();

/** Writes that no request causes. */
const OWN_WRITES: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  'a lease': ({ fleetLeases }) => fleetLeases.take('', 'host'),
  'a report of a release': ({ releases }) =>
    releases.report('', { host: 'host', release: null, problem: null, figures: null }),
};

/** Turns the store into one of a version that did not store its least reader. */
async function makeOlder(database: Database): Promise<void> {
  await database.query.deleteFrom('schema_version').execute();
  await addVersion(database, OLDER);
  await database.query.schema.alterTable('schema_version').dropColumn('least_reader').execute();
}

for (const kind of BACKENDS) {
  describe(`the schema of the store on ${kind.name}`, () => {
    const backend = useBackend(kind);

    it('is created once, at its version', async () => {
      for (const _ of [1, 2]) await (await backend.open()).close();
      const database = await backend.openDatabase();
      const rows = await database.query.selectFrom('schema_version').selectAll().execute();
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ version: VERSION, least_reader: FIRST_VERSION });
    });

    it('is rejected if a newer modgate has changed what this version uses, and not changed', async () => {
      const database = await backend.openDatabase();
      await addVersion(database, NEWER);
      const store = await backend.open();
      const error = await expectUnavailable(store.config.read('crm'), 'newer_schema');
      expect(error.message).to.equal(
        `the store was written by a newer modgate: its schema is version ${NEWER} and needs ` +
          `version ${NEWER}, this modgate supports ${VERSION}`,
      );
      expect(await readVersions(database)).to.deep.equal([VERSION, NEWER]);
    });

    it('is no longer written once a newer modgate has changed what this version uses', async () => {
      const database = await backend.openDatabase();
      const store = await backend.open();
      await write(store, 'page_size', 5);
      await addVersion(database, NEWER);
      await expectUnavailable(write(store, 'page_size', 6), 'newer_schema');
      expect(store.unavailable?.code).to.equal('newer_schema');
      const rows = await database.query.selectFrom('config_value').select('value').execute();
      expect(rows).to.deep.equal([{ value: '5' }]);
    });

    for (const [title, work] of Object.entries(OWN_WRITES)) {
      it(`is no longer written then by ${title}`, async () => {
        const database = await backend.openDatabase();
        const store = await backend.open();
        await work(store);
        await addVersion(database, NEWER);
        await expectUnavailable(work(store), 'newer_schema');
      });
    }

    it('is rejected if an earlier modgate has written it, and not changed', async () => {
      const database = await backend.openDatabase();
      await makeOlder(database);
      const store = await backend.open();
      const { message } = await expectUnavailable(store.config.read('crm'), 'older_schema');
      expect(message).to.include(`its schema is version ${OLDER}, and this modgate begins a new`);
      expect(await readVersions(database)).to.deep.equal([OLDER]);
    });

    it('is used if a newer modgate admits this version', async () => {
      await write(await backend.open(), 'page_size', 1);
      const database = await backend.openDatabase();
      await migrateAsNewer(database, VERSION);
      const store = await backend.open();
      expect(await write(store, 'page_size', 2)).to.include({ revision: 2 });
      const record = { surface: 'console', key: 'a', value: '1', expiresAt: Date.now() + 60_000 };
      expect(await store.surfaceRecords.set({ ...record, only: null })).to.equal('set');
      expect(await store.audit.verify()).to.deep.equal({ rows: 2, brokenAt: null });
    });

    it('is migrated by a newer modgate once, and keeps what is stored', async () => {
      await write(await backend.open(), 'page_size', 1);
      const database = await backend.openDatabase();
      for (const _ of [1, 2]) await migrateAsNewer(database, LATER);
      expect(await readVersions(database)).to.deep.equal([VERSION, LATER]);
      expect(await listMigrated(database)).to.deep.equal([{ id: 'up', added: null }]);
      await expectUnavailable(readValue(await backend.open(), 'crm/page_size'), 'newer_schema');
      const values = await database.query.selectFrom('config_value').selectAll().execute();
      expect(values).to.have.length(1);
      expect(values[0]).to.include({ key: 'page_size', value: '1', added: null });
    });

    it('is created in the form of its version, without the migrations before', async () => {
      const database = await backend.openDatabase();
      for (const name of Object.keys(TABLES).reverse()) {
        await database.query.schema.dropTable(name).execute();
      }
      await database.query.schema.dropTable('schema_version').execute();
      await migrateAsNewer(database, LATER);
      expect(await readVersions(database)).to.deep.equal([LATER]);
      expect(await listMigrated(database)).to.deep.equal([]);
    });
  });

  describe(`a store of another version on ${kind.name}`, () => {
    const backend = useBackend(kind);
    let place: Workplace;
    let where: string[];
    beforeEach(() => {
      place = createWorkplace();
      mkdirSync(`${place.folder}/modules.d`);
      where = backend.url === null ? ['--state', backend.stateDir] : ['--store', backend.url];
    });

    const keys = { MODGATE_STORE_KEY: '0'.repeat(64) };
    const check = ['serve', '--check', '--connect', '--env', 'development'];
    const move = kind.name === 'SQLite' ? 'move modgate.db, ' : 'ALTER SCHEMA';

    it('ends the start and the commands with 1 and what to move, if an earlier modgate has written it', async () => {
      await makeOlder(await backend.openDatabase());
      for (const args of [['serve'], ['serve', '--workers', '2'], ['audit'], ['encrypt-store']]) {
        const { code, stdout, stderr } = await place.run([...args, ...where], keys);
        expect({ code, stdout }, args.join(' ')).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr).to.match(/^modgate: the store was written by an earlier modgate: .*\n$/);
        expect(stderr).to.include(move);
      }
      const { code, stdout } = await place.run([...check, ...where]);
      expect(code, stdout).to.equal(1);
      expect(stdout).to.include('the store was written by an earlier modgate').and.include(move);
    });

    it('does not keep a host from starting if a newer modgate has written it', async () => {
      await addVersion(await backend.openDatabase(), NEWER);
      expect((await place.run([...check, ...where])).code).to.equal(0);
      expect((await place.run(['audit', ...where])).code).to.equal(2);
      const encrypted = await place.run(['encrypt-store', ...where], keys);
      expect(encrypted.code).to.equal(1);
      expect(encrypted.stderr).to.include('written by a newer modgate');
      const host = await startHostProcess({ args: where });
      expect((await host.stop()).code).to.equal(0);
    });
  });
}

const LATER = VERSION + 1;

/** A schema with a table, columns and an index of the next version, and a migration. */
function createLaterSchema(leastReader: number): Schema {
  const { config_value, audit_row, surface_record, ...tables } = TABLES;
  const withColumn = <T extends { columns: object }>(table: T) => ({
    ...table,
    columns: { ...table.columns, added: { ...TEXT_OR_NULL, since: LATER } },
    indexes: { [`later_${Object.keys(table.columns)[0]}`]: { on: 'added', since: LATER } },
  });
  const migrated = { columns: { id: TEXT, added: TEXT_OR_NULL }, primaryKey: ['id'], since: LATER };
  return {
    tables: {
      ...tables,
      config_value: withColumn(config_value),
      audit_row: withColumn(audit_row),
      surface_record: withColumn(surface_record),
      migrated,
    },
    migrations: [
      {
        version: LATER,
        leastReader,
        up: async (trx) => {
          await toLater(trx).insertInto('migrated').values({ id: 'up', added: null }).execute();
        },
      },
    ],
  };
}

/** `transact` rejects what this version cannot use. */
function migrateAsNewer({ query }: Database, leastReader: number): Promise<void> {
  return query.transaction().execute((trx) => migrate(trx, createLaterSchema(leastReader)));
}

interface LaterTables {
  readonly migrated: { id: string; added: string | null };
}

function toLater(query: Kysely<Tables>): Kysely<LaterTables> {
  return query as unknown as Kysely<LaterTables>;
}

function listMigrated({ query }: Database) {
  return toLater(query).selectFrom('migrated').selectAll().execute();
}
