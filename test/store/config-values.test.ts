import { expect } from 'chai';
import { BACKENDS, useBackend } from './backend.js';
import { createWrite, DRAFT, expectUnavailable, readValue, write } from './drafts.js';

for (const kind of BACKENDS) {
  describe(`config values on ${kind.name}`, () => {
    const backend = useBackend(kind);
    it('returns revision 0 and no values for a module that was never written to', async () => {
      const store = await backend.open();
      const { revision, values, unreadable } = await store.readConfig('crm');
      expect([revision, values.size, unreadable.size]).to.deep.equal([0, 0, 0]);
    });

    it('returns every kind of JSON value unchanged', async () => {
      const store = await backend.open();
      const commandLine = [null, true, 0, -1.5, 2 ** 53, '', 'a\u0000b\u{1f600}\ud800', [1, [2]]];
      const values = [...commandLine, { z: 1, a: { '': null } }];
      for (const [index, value] of values.entries()) await write(store, `k${index}`, value);
      const stored = await store.readConfig('crm');
      expect([...stored.values.values()].map(({ value }) => value)).to.deep.equal(values);
      expect(stored.values.get('crm/k0')?.updatedAt).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
    });

    it('increments the revision of the written module only', async () => {
      const store = await backend.open();
      const first = await write(store, 'page_size', 1);
      const second = await write(store, 'page_size', 1);
      await write(store, 'page_size', 5, { module: 'acme/crm' });
      expect([first.revision, second.revision]).to.deep.equal([1, 2]);
      expect((await store.readConfig('crm')).revision).to.equal(2);
      expect((await store.readConfig('acme/crm')).revision).to.equal(1);
      expect(await readValue(store, 'crm/page_size', 'acme/crm')).to.equal(5);
    });

    it('keeps values when the store is reopened', async () => {
      const first = await backend.open();
      await write(first, 'page_size', 7);
      await first.close();
      const second = await backend.open();
      expect(await readValue(second, 'crm/page_size')).to.equal(7);
    });

    it('writes the value and its audit row atomically', async () => {
      const store = await backend.open();
      await write(store, 'page_size', 1);
      const { query } = await backend.openDatabase();
      const [row] = await query.selectFrom('audit_row').selectAll().execute();
      // Conflicts with the next row.
      await query
        .insertInto('audit_row')
        .values({ ...row, id: 2 } as never)
        .execute();
      await expectUnavailable(write(store, 'page_size', 2), 'inconsistent');
      const { revision } = await store.readConfig('crm');
      expect([revision, await readValue(store, 'crm/page_size')]).to.deep.equal([1, 1]);
    });

    it('increments the revision by each concurrent write of two hosts', async () => {
      const hosts = await Promise.all([backend.open(), backend.open()]);
      const writes = hosts.flatMap((host, index) =>
        Array.from({ length: 8 }, (_, n) => write(host, `k${index}-${n}`, n)),
      );
      const revisions = (await Promise.all(writes)).map(({ revision }) => revision);
      expect(revisions.toSorted((a, b) => a - b)).to.deep.equal(
        Array.from({ length: 16 }, (_, n) => n + 1),
      );
      expect(await hosts[0]?.verifyAudit()).to.deep.equal({ rows: 16, brokenAt: null });
    });

    it('creates a generated value once, as hex, without a revision or audit row', async () => {
      const store = await backend.open();
      const field = { module: 'crm', service: 'crm', key: 'secret', bytes: 24 };
      const secret = await store.ensureGenerated(field);
      expect(secret).to.match(/^[0-9a-f]{48}$/);
      expect(await store.ensureGenerated({ ...field, bytes: 8 })).to.equal(secret);
      expect(await readValue(store, 'crm/secret')).to.equal(secret);
      expect((await store.readConfig('crm')).revision).to.equal(0);
      expect((await store.verifyAudit()).rows).to.equal(0);
      expect((await write(store, 'page_size', 1)).revision).to.equal(1);
    });

    it('returns the same generated value to hosts that race for it', async () => {
      const hosts = await Promise.all(Array.from({ length: 4 }, () => backend.open()));
      // The first secret creates the row of the module, the others find it.
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        const field = { module: 'crm', service: 'crm', key, bytes: 16 };
        const secrets = await Promise.all(hosts.map((host) => host.ensureGenerated(field)));
        expect(new Set(secrets).size).to.equal(1);
        const [host = backend.open()] = hosts;
        expect(await readValue(await host, `crm/${key}`)).to.equal(secrets[0]);
      }
    });

    it('keeps a string that was written before the field was generated and replaces any other value', async () => {
      const store = await backend.open();
      await write(store, 'text', 'by hand');
      await write(store, 'number', 5);
      const field = { module: 'crm', service: 'crm', bytes: 4 };
      expect(await store.ensureGenerated({ ...field, key: 'text' })).to.equal('by hand');
      expect(await store.ensureGenerated({ ...field, key: 'number' })).to.match(/^[0-9a-f]{8}$/);
    });

    it('opens for hosts that create it at the same time', async () => {
      const hosts = await Promise.all(Array.from({ length: 5 }, () => backend.open()));
      expect(hosts.map((host) => host.unavailable)).to.deep.equal(hosts.map(() => null));
    });

    it('rejects every operation after it was closed', async () => {
      const store = await backend.open();
      await store.close();
      await expectUnavailable(store.readConfig('crm'), 'closed');
      await expectUnavailable(store.writeConfig(createWrite('k', 1), DRAFT), 'closed');
      await expectUnavailable(store.appendAudit(DRAFT), 'closed');
      expect(store.unavailable?.code).to.equal('closed');
      await store.close();
    });

    it('rejects the store of a newer modgate and does not change it', async () => {
      await (await backend.open()).close();
      const { query } = await backend.openDatabase();
      await query.insertInto('schema_version').values({ version: 99, applied_at: 'x' }).execute();
      const store = await backend.open();
      const error = await expectUnavailable(store.readConfig('crm'), 'newer_schema');
      expect(error.message).to.equal(
        'the store was written by a newer modgate: its schema is version 99 and needs version 99, ' +
          'this modgate supports 12',
      );
      const versions = await query.selectFrom('schema_version').select('version').execute();
      expect(versions.map(({ version }) => version)).to.deep.equal([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99,
      ]);
    });

    it('works with the store of a newer modgate that admits this version', async () => {
      await write(await backend.open(), 'page_size', 1);
      const { query } = await backend.openDatabase();
      await query.schema.createTable('later').addColumn('id', 'text').execute();
      for (const table of ['call_record', 'audit_row', 'config_value', 'surface_record']) {
        await query.schema.alterTable(table).addColumn('later', 'text').execute();
      }
      const row = { version: 99, applied_at: 'x', least_reader: 10 };
      await query.insertInto('schema_version').values(row).execute();
      const store = await backend.open();
      expect(await write(store, 'page_size', 2)).to.deep.equal({ revision: 2 });
      const record = { surface: 'console', key: 'a', value: '1', expiresAt: Date.now() + 60_000 };
      expect(await store.surfaceRecords.set({ ...record, only: null })).to.equal('set');
      expect(await store.verifyAudit()).to.deep.equal({ rows: 2, brokenAt: null });
    });
  });
}
