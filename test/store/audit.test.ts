import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import type { AuditRow } from '../../core/contract/audit-row.js';
import type { Store } from '../../core/store/store.js';
import { BACKENDS, useBackend } from './backend.js';
import { DRAFT, write } from './drafts.js';

for (const kind of BACKENDS) {
  describe(`audit on ${kind.name}`, () => {
    const backend = useBackend(kind);
    let store: Store;
    beforeEach(async () => {
      store = await backend.open();
    });
    const collect = async (filter = {}): Promise<AuditRow[]> => {
      const rows: AuditRow[] = [];
      for await (const row of store.audit.read(filter)) rows.push(row);
      return rows;
    };
    const append = async (count: number, overrides = {}) => {
      for (let n = 0; n < count; n += 1) await store.audit.append({ ...DRAFT, ...overrides });
    };

    it('adds one row per write with all fields', async () => {
      await write(store, 'page_size', 25);
      const [row] = await collect();
      const { at, hash, ...rest } = row ?? ({} as AuditRow);
      expect(at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(rest).to.deep.equal({
        id: 1,
        actor: { kind: 'user', id: 'ada' },
        module: 'crm',
        permission: 'crm.config',
        operation: 'config_write',
        target: 'crm/page_size',
        outcome: 'ok',
        request_id: 'req_1',
        correlation_id: 'corr_1',
        value_digest: `sha256:${sha256('25')}`,
        prev: '0'.repeat(64),
      });
      expect(hash).to.equal(sha256(canonicalize({ at, ...rest }) ?? ''));
    });

    it('returns the appended row', async () => {
      const row = await store.audit.append({ ...DRAFT, outcome: 'failed' });
      expect(await collect()).to.deep.equal([row]);
      expect([row.outcome, row.value_digest]).to.deep.equal(['failed', null]);
    });

    it('chains each row to the previous one', async () => {
      await append(3);
      const rows = await collect();
      expect(rows.map(({ id }) => id)).to.deep.equal([1, 2, 3]);
      expect(rows.slice(1).map(({ prev }) => prev)).to.deep.equal(
        rows.slice(0, -1).map(({ hash }) => hash),
      );
    });

    it('stays the same when hosts check that they can write', async () => {
      const other = await backend.open();
      await Promise.all(
        [store, other].flatMap((host) =>
          Array.from({ length: 10 }, () => [
            host.audit.append(DRAFT),
            host.audit.assertWritable(),
          ]).flat(),
        ),
      );
      expect(await store.audit.verify()).to.deep.equal({ rows: 20, brokenAt: null });
    });

    it('has no forks when two hosts append at the same time', async () => {
      const other = await backend.open();
      await Promise.all(
        [store, other].flatMap((host) =>
          Array.from({ length: 15 }, () => host.audit.append(DRAFT)),
        ),
      );
      expect(await store.audit.verify()).to.deep.equal({ rows: 30, brokenAt: null });
    });

    it('filters by module, time and id, and reads more than a page', async () => {
      const { query } = await backend.openDatabase();
      await append(2, { module: 'acme/crm' });
      await append(2);
      expect((await collect({ module: 'acme/crm' })).map(({ id }) => id)).to.deep.equal([1, 2]);
      expect((await collect({ afterId: 2, limit: 1 })).map(({ id }) => id)).to.deep.equal([3]);
      expect(await collect({ limit: 0 })).to.deep.equal([]);
      const at = '2020-01-01T00:00:00.000Z';
      await query.updateTable('audit_row').set({ at }).where('id', '<', 3).execute();
      const since = new Date('2020-01-01T00:00:00.001Z');
      expect((await collect({ since })).map(({ id }) => id)).to.deep.equal([3, 4]);
      expect(await collect({ since: new Date(at) })).to.have.length(4);
      const [row] = await query.selectFrom('audit_row').selectAll().limit(1).execute();
      const overrides = Array.from({ length: 1200 }, (_, n) => ({ ...row, id: 5 + n }));
      for (const row of overrides)
        await query
          .insertInto('audit_row')
          .values(row as never)
          .execute();
      const all = await collect();
      expect(all.map(({ id }) => id)).to.deep.equal(Array.from({ length: 1204 }, (_, n) => n + 1));
      expect(await collect({ limit: 700 })).to.have.length(700);
    });

    it('digests the canonical form, so that member order does not matter', async () => {
      const value = (json: unknown) => ({
        value: { json: JSON.stringify(json), sensitive: false },
      });
      await append(1, value({ b: [1.0, 'é'], a: null }));
      await append(1, value({ a: null, b: [1, '\u00e9'] }));
      const [first, second] = await collect();
      expect(first?.value_digest).to.equal(`sha256:${sha256('{"a":null,"b":[1,"é"]}')}`);
      expect(second?.value_digest).to.equal(first?.value_digest);
    });

    it('digests long values like short ones, several at once', async () => {
      const long = Array.from({ length: 3 }, (_, n) => ({ b: 'x'.repeat(40_000 + n), a: n }));
      await Promise.all(
        long.map((json) => append(1, { value: { json: JSON.stringify(json), sensitive: false } })),
      );
      const digests = (await collect()).map(({ value_digest: digest }) => digest);
      const expected = long.map((json) => `sha256:${sha256(canonicalize(json) ?? '')}`);
      expect(digests).to.have.members(expected);
    });

    it('digests values without a canonical form and keeps their rows verifiable', async () => {
      const json = { text: 'half \ud800 \\ud800 \u0000', whole: '\u{1f600}' };
      await append(1, {
        target: 'a\u0000b\udfff',
        value: { json: JSON.stringify(json), sensitive: false },
      });
      const [row] = await collect();
      const canonical = canonicalize({ ...json, text: 'half \ufffd \\ud800 \u0000' }) ?? '';
      expect(row?.value_digest).to.equal(`sha256:${sha256(canonical)}`);
      expect(row?.target).to.equal('a\ufffdb\ufffd');
      expect((await store.audit.verify()).brokenAt).to.equal(null);
    });

    it('digests sensitive values with a key of the store, so that they cannot be guessed', async () => {
      await write(store, 'pin', '1234', { sensitive: true });
      await (await backend.open()).audit.append({
        ...DRAFT,
        value: { json: JSON.stringify('1234'), sensitive: true },
      });
      const [first, second] = (await collect()).map((row) => row.value_digest);
      expect(first).to.match(/^hmac-sha256:[0-9a-f]{64}$/);
      expect(first).to.not.contain(sha256('"1234"'));
      expect(second).to.equal(first);
      const another = kind.create();
      try {
        const elsewhere = await another.open();
        const row = await elsewhere.audit.append({
          ...DRAFT,
          value: { json: JSON.stringify('1234'), sensitive: true },
        });
        expect(row.value_digest).to.not.equal(first);
      } finally {
        await another.dispose();
      }
    });

    describe('verification', () => {
      it('accepts a complete chain and an empty one', async () => {
        expect(await store.audit.verify()).to.deep.equal({ rows: 0, brokenAt: null });
        await append(3);
        expect(await store.audit.verify()).to.deep.equal({ rows: 3, brokenAt: null });
      });

      it('detects a changed row', async () => {
        await append(5);
        const { query } = await backend.openDatabase();
        await query.updateTable('audit_row').set({ actor_id: 'eve' }).where('id', '=', 3).execute();
        const reason = 'the row was changed';
        expect(await store.audit.verify()).to.deep.equal({ rows: 2, brokenAt: 3, reason });
      });

      for (const { part, id, rows } of [
        { part: 'head', id: 1, rows: 0 },
        { part: 'row in the middle', id: 3, rows: 2 },
      ]) {
        it(`finds that the ${part} was removed`, async () => {
          await append(5);
          const { query } = await backend.openDatabase();
          await query.deleteFrom('audit_row').where('id', '=', id).execute();
          const reason = 'the row is missing';
          expect(await store.audit.verify()).to.deep.equal({ rows, brokenAt: id, reason });
        });
      }

      it('detects removed rows although the rest was renumbered', async () => {
        await append(5);
        const { query } = await backend.openDatabase();
        await query.deleteFrom('audit_row').where('id', '=', 2).execute();
        for (const id of [3, 4, 5]) {
          await query
            .updateTable('audit_row')
            .set({ id: id - 1 })
            .where('id', '=', id)
            .execute();
        }
        expect((await store.audit.verify()).brokenAt).to.equal(2);
      });

      it('detects a truncated chain', async () => {
        await append(5);
        const { query } = await backend.openDatabase();
        await query.deleteFrom('audit_row').where('id', '>', 3).execute();
        const reason = 'the row and all after it are missing';
        expect(await store.audit.verify()).to.deep.equal({ rows: 3, brokenAt: 4, reason });
      });

      it('detects a row that was inserted at the end or replaced the last', async () => {
        await append(2);
        const { query } = await backend.openDatabase();
        const [, last] = await query.selectFrom('audit_row').selectAll().orderBy('id').execute();
        await query
          .insertInto('audit_row')
          .values({ ...last, id: 3 } as never)
          .execute();
        expect((await store.audit.verify()).brokenAt).to.equal(3);
        await query.deleteFrom('audit_row').where('id', '=', 3).execute();
        await query
          .updateTable('audit_head')
          .set({ hash: 'f'.repeat(64) })
          .execute();
        expect(await store.audit.verify()).to.include({ rows: 1, brokenAt: 2 });
      });

      it('works while hosts write', async () => {
        await append(20);
        const other = await backend.open();
        const appends = Array.from({ length: 60 }, () => other.audit.append(DRAFT));
        const verdicts = await Promise.all(Array.from({ length: 10 }, () => store.audit.verify()));
        await Promise.all(appends);
        expect(verdicts.map(({ brokenAt }) => brokenAt)).to.deep.equal(verdicts.map(() => null));
        expect((await store.audit.verify()).rows).to.equal(80);
      });
    });
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
