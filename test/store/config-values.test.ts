import { expect } from 'chai';
import { BACKENDS, useBackend } from './backend.js';
import { createWrite, DRAFT, expectUnavailable, readValue, write } from './drafts.js';

for (const kind of BACKENDS) {
  describe(`config values on ${kind.name}`, () => {
    const backend = useBackend(kind);
    it('returns revision 0 and no values for a module that was never written to', async () => {
      const store = await backend.open();
      const { revision, values, unreadable } = await store.config.read('crm');
      expect([revision, values.size, unreadable.size]).to.deep.equal([0, 0, 0]);
    });

    it('returns every kind of JSON value unchanged', async () => {
      const store = await backend.open();
      const commandLine = [null, true, 0, -1.5, 2 ** 53, '', 'a\u0000b\u{1f600}\ud800', [1, [2]]];
      const values = [...commandLine, { z: 1, a: { '': null } }];
      for (const [index, value] of values.entries()) await write(store, `k${index}`, value);
      const stored = await store.config.read('crm');
      expect([...stored.values.values()]).to.deep.equal(values);
    });

    it('increments the revision of the written module only', async () => {
      const store = await backend.open();
      const first = await write(store, 'page_size', 1);
      const second = await write(store, 'page_size', 1);
      await write(store, 'page_size', 5, { module: 'acme/crm' });
      expect([first.revision, second.revision]).to.deep.equal([1, 2]);
      expect((await store.config.read('crm')).revision).to.equal(2);
      expect((await store.config.read('acme/crm')).revision).to.equal(1);
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
      const { revision } = await store.config.read('crm');
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
      expect(await hosts[0]?.audit.verify()).to.deep.equal({ rows: 16, brokenAt: null });
    });

    it('creates a generated value once, as hex, without a revision or audit row', async () => {
      const store = await backend.open();
      const field = { module: 'crm', service: 'crm', key: 'secret', bytes: 24 };
      const secret = await store.config.ensureGenerated(field);
      expect(secret).to.match(/^[0-9a-f]{48}$/);
      expect(await store.config.ensureGenerated({ ...field, bytes: 8 })).to.equal(secret);
      expect(await readValue(store, 'crm/secret')).to.equal(secret);
      expect((await store.config.read('crm')).revision).to.equal(0);
      expect((await store.audit.verify()).rows).to.equal(0);
      expect((await write(store, 'page_size', 1)).revision).to.equal(1);
    });

    it('returns the same generated value to hosts that race for it', async () => {
      const hosts = await Promise.all(Array.from({ length: 4 }, () => backend.open()));
      // The first secret creates the row of the module, the others find it.
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        const field = { module: 'crm', service: 'crm', key, bytes: 16 };
        const secrets = await Promise.all(hosts.map((host) => host.config.ensureGenerated(field)));
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
      expect(await store.config.ensureGenerated({ ...field, key: 'text' })).to.equal('by hand');
      expect(await store.config.ensureGenerated({ ...field, key: 'number' })).to.match(
        /^[0-9a-f]{8}$/,
      );
    });

    it('lists what was stored as sensitive or generated, and the last place of delivery', async () => {
      const store = await backend.open();
      const made = { module: 'made', service: 'crm', key: 'key', bytes: 8 };
      await write(store, 'plain', 1);
      await write(store, 'token', 'a', { module: 'acme/crm', sensitive: true });
      await store.config.ensureGenerated(made);
      await store.config.writePlace('acme/crm', 'there');
      await store.config.writePlace('unknown', 'there');
      expect([...(await store.config.listSecrets())].sort()).to.deep.equal([
        ['acme/crm', 'there'],
        ['made', null],
      ]);
      const read = await store.config.read('acme/crm');
      expect([[...read.secrets], read.place]).to.deep.equal([['crm/token'], 'there']);
      await write(store, 'token', 'b', { module: 'acme/crm' });
      await write(store, 'key', 'by hand', { module: 'made' });
      expect([...(await store.config.read('acme/crm')).secrets]).to.deep.equal([]);
      expect([...(await store.config.read('made')).secrets]).to.deep.equal(['crm/key']);
      expect([...(await store.config.listSecrets()).keys()]).to.deep.equal(['made']);
    });

    it('keeps a value as generated that was written before its field was', async () => {
      const store = await backend.open();
      await write(store, 'text', 'by hand');
      expect((await store.config.read('crm')).secrets.size).to.equal(0);
      await store.config.ensureGenerated({ module: 'crm', service: 'crm', key: 'text', bytes: 4 });
      expect([...(await store.config.read('crm')).secrets]).to.deep.equal(['crm/text']);
    });

    it('opens for hosts that create it at the same time', async () => {
      const hosts = await Promise.all(Array.from({ length: 5 }, () => backend.open()));
      expect(hosts.map((host) => host.unavailable)).to.deep.equal(hosts.map(() => null));
    });

    it('rejects every operation after it was closed', async () => {
      const store = await backend.open();
      await store.close();
      await expectUnavailable(store.config.read('crm'), 'closed');
      await expectUnavailable(store.config.write(createWrite('k', 1), DRAFT), 'closed');
      await expectUnavailable(store.audit.append(DRAFT), 'closed');
      expect(store.unavailable?.code).to.equal('closed');
      await store.close();
    });
  });
}
