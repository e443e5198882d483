import { expect } from 'chai';
import {
  createSurfaceRecordStore,
  type SurfaceRecordStore,
} from '../../core/store/surface-records.js';
import { BACKENDS, useBackend } from './backend.js';

const NOON = Date.parse('2026-01-31T12:00:00.000Z');
const MAX_RECORDS = 3;

for (const kind of BACKENDS) {
  describe(`records of surfaces on ${kind.name}`, () => {
    const backend = useBackend(kind);
    let records: SurfaceRecordStore;
    let now: number;

    beforeEach(async () => {
      now = NOON;
      await (await backend.open()).close();
      const database = await backend.openDatabase();
      records = createSurfaceRecordStore(
        (work) => work(database),
        () => now,
        MAX_RECORDS,
      );
    });

    const set = (key: string, ms = 1000, only: 'absent' | 'present' | null = null) =>
      records.set({ surface: 'desk', key, value: `"${key}"`, expiresAt: now + ms, only });
    const keys = async () => (await records.list('desk', '')).map(({ key }) => key);

    it('are read as they were set, until they expire', async () => {
      expect(await set('b')).to.equal('set');
      expect(await set('a', 2000)).to.equal('set');
      expect(await records.get('desk', 'a')).to.deep.equal({
        key: 'a',
        value: 'a',
        revision: (await records.list('desk', 'a'))[0]?.revision,
        expiresAt: NOON + 2000,
      });
      expect(await keys()).to.deep.equal(['a', 'b']);
      now += 1000;
      expect(await records.get('desk', 'b')).to.equal(null);
      expect(await keys()).to.deep.equal(['a']);
      expect(await records.delete('desk', 'b')).to.equal(false);
    });

    it('are listed by the prefix of their keys, byte for byte', async () => {
      for (const key of ['a_b:1', 'A_b:1', 'a-b:1']) await set(key);
      const list = async (prefix: string) =>
        (await records.list('desk', prefix)).map(({ key }) => key);
      expect(await list('a_b:')).to.deep.equal(['a_b:1']);
      expect(await list('a')).to.have.members(['a-b:1', 'a_b:1']);
      expect(await list('a_b:1')).to.deep.equal(['a_b:1']);
      expect(await list('b')).to.deep.equal([]);
    });

    it('are changed by only one writer of those that have read the same revision', async () => {
      await set('a');
      const first = (await records.get('desk', 'a'))?.revision ?? '';
      const write = (value: string, revision: string) =>
        records.set({
          surface: 'desk',
          key: 'a',
          value,
          expiresAt: now + 1000,
          only: { revision },
        });
      const results = await Promise.all(['1', '2', '3'].map((value) => write(value, first)));
      expect(results.sort()).to.deep.equal(['set', 'skipped', 'skipped']);
      const { revision = '' } = (await records.get('desk', 'a')) ?? {};
      expect(revision).to.not.equal(first);
      expect(await write('"a"', first)).to.equal('skipped');
      expect(await write('4', revision)).to.equal('set');
      await records.delete('desk', 'a');
      expect(await write('5', revision)).to.equal('skipped');
    });

    it('are set on a condition, to which an expired one does not count', async () => {
      expect(await set('a', 1000, 'present')).to.equal('skipped');
      expect(await set('a', 1000, 'absent')).to.equal('set');
      expect(await set('a', 1000, 'absent')).to.equal('skipped');
      expect(await set('a', 1000, 'present')).to.equal('set');
      now += 1000;
      expect(await set('a', 1000, 'present')).to.equal('skipped');
    });

    it('are limited for each surface; expired ones make room', async () => {
      for (const key of ['a', 'b', 'c']) expect(await set(key)).to.equal('set');
      expect(await set('d')).to.equal('full');
      expect(await set('a')).to.equal('set');
      const other = { surface: 'till', key: 'd', value: '1', expiresAt: now + 1000, only: null };
      expect(await records.set(other)).to.equal('set');
      now += 1000;
      expect(await set('d')).to.equal('set');
      expect(await keys()).to.deep.equal(['d']);
    });

    it('do not exceed the limit with writers at the same time', async () => {
      const results = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => set(key)));
      expect(results.filter((result) => result === 'set')).to.have.length(MAX_RECORDS);
      expect(await keys()).to.have.length(MAX_RECORDS);
    });

    it('are deleted by one of several callers', async () => {
      await set('a');
      const deleted = await Promise.all([1, 2, 3].map(() => records.delete('desk', 'a')));
      expect(deleted.filter(Boolean)).to.have.length(1);
    });
  });
}
