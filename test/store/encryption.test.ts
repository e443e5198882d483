import { expect } from 'chai';
import type { Log } from '../../core/contract/index.js';
import { createConfigStore } from '../../core/store/config-values.js';
import type { Database, DigestAudited } from '../../core/store/database.js';
import { parseStoreKeys, type StoreKeys } from '../../core/store/encryption-keys.js';
import { encryptClearValues } from '../../core/store/open-store.js';
import { BACKENDS, silent, useBackend } from './backend.js';
import { createKey, DRAFT, expectUnavailable, readValue, write } from './drafts.js';

const SECRET = 'correct horse battery staple';
const SENSITIVE = { sensitive: true };

function parseKeys(key: string): StoreKeys {
  const keys = parseStoreKeys(key);
  if (keys === null) throw new Error('no key');
  return keys;
}

for (const kind of BACKENDS) {
  describe(`encryption on ${kind.name}`, () => {
    const backend = useBackend(kind);
    let database: Database;
    beforeEach(async () => {
      database = await backend.openDatabase();
    });
    const readRows = () =>
      database.query.selectFrom('config_value').selectAll().orderBy('key').execute();

    it('stores sensitive values in clear without a key, and reads them', async () => {
      const store = await backend.open();
      await write(store, 'api_key', SECRET, SENSITIVE);
      expect(await readRows()).to.containSubset([{ value: `"${SECRET}"`, key_id: null }]);
      expect(await readValue(store, 'crm/api_key')).to.equal(SECRET);
    });

    it('encrypts only sensitive and generated values, each time differently', async () => {
      const store = await backend.open(createKey());
      await write(store, 'a', SECRET, SENSITIVE);
      const [before] = await readRows();
      await write(store, 'a', SECRET, SENSITIVE);
      await write(store, 'b', SECRET);
      const generated = await store.config.ensureGenerated({
        module: 'crm',
        service: 'crm',
        key: 'c',
        bytes: 16,
      });
      const [a, b, c] = await readRows();
      expect(a?.value).to.not.contain(SECRET).and.to.not.equal(before?.value);
      expect(c?.value).to.not.contain(generated);
      expect(b?.value).to.equal(`"${SECRET}"`);
      expect([a?.key_id, b?.key_id]).to.deep.equal([before?.key_id, null]);
      expect(a?.key_id).to.match(/^[0-9a-f]{16}$/);
      expect(await readValue(store, 'crm/a')).to.equal(SECRET);
      expect(await readValue(store, 'crm/c')).to.equal(generated);
    });

    const encryptStore = (key: string) =>
      encryptClearValues(backend.url, backend.stateDir, parseKeys(key), silent);

    it('rejects sensitive values in clear until the store is encrypted', async () => {
      const field = { module: 'crm', service: 'crm', key: 'made', bytes: 8 };
      const clear = await backend.open();
      const made = await clear.config.ensureGenerated(field);
      await write(clear, 'api_key', SECRET, SENSITIVE);
      const { updated_at } = (await readRows())[0] ?? {};
      const key = createKey();
      const lines: string[] = [];
      const keep = (fields: object, message: string) =>
        lines.push(JSON.stringify(fields) + message);
      const store = await backend.open(key, { ...silent, warn: keep });
      expect(lines).to.deep.equal([
        '{"count":3}store values not encrypted: run modgate encrypt-store',
      ]);
      const { values, unreadable } = await store.config.read('crm');
      expect([...values.keys()]).to.deep.equal([]);
      expect([...unreadable.keys()].sort()).to.deep.equal(['crm/api_key', 'crm/made']);
      expect(unreadable.get('crm/api_key')?.code).to.equal('not_encrypted');
      await expectUnavailable(store.config.ensureGenerated(field), 'not_encrypted');
      expect((await readRows())[0]?.value, 'unchanged').to.contain(SECRET);

      expect(await encryptStore(key)).to.equal(3);
      expect(await encryptStore(key), 'again').to.equal(0);
      const [row] = await readRows();
      expect(row?.value).to.not.contain(SECRET);
      expect(row?.updated_at).to.equal(updated_at);
      expect(await readValue(store, 'crm/api_key')).to.equal(SECRET);
      expect(await store.config.ensureGenerated(field)).to.equal(made);
      expect((await store.config.read('crm')).revision).to.equal(1);
    });

    it('encrypts a text that was written before its field was generated', async () => {
      const fields = ['first', 'later'].map((key) => {
        return { module: 'crm', service: 'crm', key, bytes: 8 };
      });
      const [first, later] = fields;
      if (first === undefined || later === undefined) throw new Error('two fields');
      const clear = await backend.open();
      await write(clear, 'first', 'by hand');
      await clear.config.ensureGenerated(first);
      const key = createKey();
      const store = await backend.open(key);
      await write(store, 'later', 'by hand');
      await write(store, 'number', 5);
      for (const field of fields) {
        await expectUnavailable(store.config.ensureGenerated(field), 'not_encrypted');
      }
      // The third one is the key for digests.
      expect(await encryptStore(key)).to.equal(3);
      for (const field of fields) {
        expect(await store.config.ensureGenerated(field)).to.equal('by hand');
      }
      const made = await store.config.ensureGenerated({ ...first, key: 'number' });
      expect(made).to.match(/^[0-9a-f]{16}$/);
      expect(await store.config.ensureGenerated({ ...first, key: 'number' })).to.equal(made);
    });

    it('encrypts a value that was generated once, also when its field no longer is', async () => {
      const key = createKey();
      const store = await backend.open(key);
      const field = { module: 'crm', service: 'crm', key: 'made', bytes: 8 };
      await store.config.ensureGenerated(field);
      await write(store, 'made', SECRET);
      const [row] = await readRows();
      expect(row?.value).to.not.contain(SECRET);
      expect(await readValue(store, 'crm/made')).to.equal(SECRET);
      const digests = await database.query.selectFrom('audit_row').select('value_digest').execute();
      expect(digests[0]?.value_digest).to.match(/^hmac-sha256:/);
      expect(await encryptStore(key)).to.equal(0);
      expect(await (await backend.open(key)).config.ensureGenerated(field)).to.equal(SECRET);
    });

    it('encrypts a value that another host generates during the first write', async () => {
      const key = createKey();
      const store = await backend.open(key);
      const address = { module: 'crm', service: 'crm', key: 'made' };
      const digested: unknown[] = [];
      const digest: DigestAudited = async (audited) => {
        digested.push(audited?.sensitive);
        await store.config.ensureGenerated({ ...address, bytes: 8 });
        return 'sha256:0';
      };
      const racing = createConfigStore({
        use: (work) => work({ ...database, digest }),
        keys: parseKeys(key),
        notify: () => {},
      });
      await racing.write({ ...address, value: SECRET, sensitive: false }, DRAFT);
      const [row] = await readRows();
      expect(row?.value).to.not.contain(SECRET);
      expect(digested).to.deep.equal([false, true]);
      expect(await readValue(store, 'crm/made')).to.equal(SECRET);
    });

    it('rejects a clear row that replaces an encrypted one, whatever its columns say', async () => {
      const store = await backend.open(createKey());
      await write(store, 'api_key', SECRET, SENSITIVE);
      for (const sensitive of [1, 0] as const) {
        await database.query
          .updateTable('config_value')
          .set({ value: '"forged"', key_id: null, sensitive })
          .execute();
        const { values, unreadable } = await store.config.read('crm', new Set(['crm/api_key']));
        expect([...values.keys()]).to.deep.equal([]);
        expect(unreadable.get('crm/api_key')?.code).to.equal('not_encrypted');
      }
    });

    it('rejects a key for digests in clear until the store is encrypted', async () => {
      const read = () => database.query.selectFrom('store_secret').selectAll().execute();
      await (await backend.open()).close();
      const [clear] = await read();
      expect(clear?.value).to.match(/^[0-9a-f]{64}$/);
      const key = createKey();
      const store = await backend.open(key);
      await expectUnavailable(write(store, 'api_key', SECRET, SENSITIVE), 'not_encrypted');
      expect((await write(store, 'page_size', 5)).revision).to.equal(1);
      expect(await encryptStore(key)).to.equal(1);
      const [encrypted] = await read();
      expect(encrypted?.key_id).to.be.a('string');
      expect(encrypted?.value).to.not.contain(clear?.value);
      expect((await write(store, 'api_key', SECRET, SENSITIVE)).revision).to.equal(2);
    });

    it('does not create a store to encrypt', async () => {
      const empty = kind.create();
      const keys = parseKeys(createKey());
      await expectUnavailable(
        encryptClearValues(empty.url, empty.stateDir, keys, silent),
        'missing',
      );
      await empty.dispose();
    });

    it('decrypts with every key of a list and re-encrypts with the first', async () => {
      const [older, newer] = [createKey(), createKey()];
      const first = await backend.open(older);
      await write(first, 'api_key', SECRET, SENSITIVE);
      const digest = await first.audit.append({ ...DRAFT, value: { json: '1', sensitive: true } });
      const rotated = await backend.open(`${newer},${older}`);
      expect(await readValue(rotated, 'crm/api_key')).to.equal(SECRET);
      const onlyNewer = await backend.open(newer);
      expect(await readValue(onlyNewer, 'crm/api_key')).to.equal(SECRET);
      const row = await onlyNewer.audit.append({ ...DRAFT, value: { json: '1', sensitive: true } });
      expect(row.value_digest).to.equal(digest.value_digest);
    });

    it('names values that do not decrypt and reads the others', async () => {
      const key = createKey();
      const writer = await backend.open(key);
      await write(writer, 'api_key', SECRET, SENSITIVE);
      await write(writer, 'page_size', 5);
      const lines: string[] = [];
      const keep = (fields: object, message: string) =>
        lines.push(JSON.stringify(fields) + message);
      const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
      for (const wrong of [undefined, createKey()]) {
        const store = await backend.open(wrong, log);
        const { values, unreadable } = await store.config.read('crm');
        expect([...values.keys()]).to.deep.equal(['crm/page_size']);
        expect([...unreadable.keys()]).to.deep.equal(['crm/api_key']);
        const error = unreadable.get('crm/api_key');
        expect(error?.code).to.equal('unknown_key');
        expect(error?.message).to.equal(
          "the value of 'crm/api_key' of module 'crm' is encrypted with an unknown key",
        );
        expect((await write(store, 'page_size', 6)).revision).to.be.greaterThan(2);
      }
      expect(lines.join('\n')).to.contain("'crm/api_key'").and.to.not.contain(SECRET);
      expect(lines.join('\n')).to.not.contain(key);
    });

    it('rejects sensitive writes and generated values while the key is missing', async () => {
      const field = { module: 'crm', service: 'crm', key: 'made', bytes: 8 };
      const made = await (await backend.open(createKey())).config.ensureGenerated(field);
      const store = await backend.open();
      await expectUnavailable(write(store, 'api_key', SECRET, SENSITIVE), 'unknown_key');
      const error = await expectUnavailable(store.config.ensureGenerated(field), 'unknown_key');
      expect(error.message).to.not.contain(made);
      expect(store.unavailable).to.equal(null);
      expect(await readRows()).to.have.length(1);
    });

    it('does not decrypt a value that was changed or copied from another row', async () => {
      const key = createKey();
      const store = await backend.open(key);
      await write(store, 'a', SECRET, SENSITIVE);
      await write(store, 'b', 'other', SENSITIVE);
      const [a] = await readRows();
      await database.query
        .updateTable('config_value')
        .set({ value: a?.value ?? '' })
        .where('key', '=', 'b')
        .execute();
      expect((await store.config.read('crm')).unreadable.get('crm/b')?.code).to.equal('unreadable');
      const bytes = Buffer.from(a?.value ?? '', 'base64');
      for (const at of [0, 13, bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
        const value = changed.toString('base64');
        await database.query
          .updateTable('config_value')
          .set({ value })
          .where('key', '=', 'a')
          .execute();
        const { unreadable } = await store.config.read('crm');
        expect(unreadable.get('crm/a')?.code).to.equal('unreadable');
      }
      await database.query
        .updateTable('config_value')
        .set({ value: '' })
        .where('key', '=', 'a')
        .execute();
      expect((await store.config.read('crm')).unreadable.get('crm/a')?.code).to.equal('unreadable');
      expect(store.unavailable).to.equal(null);
    });
  });
}
