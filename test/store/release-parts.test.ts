import { expect } from 'chai';
import type { Database, OpenedDatabase } from '../../core/store/database.js';
import { splitContent } from '../../core/store/releases/release-parts.js';
import { createReleaseStore, type ReleaseStore } from '../../core/store/releases/release-store.js';
import { BACKENDS, useBackend } from './backend.js';
import { createReleaseDraft, DRAFT } from './drafts.js';

const FLEET = 'shop';
const KEPT = 50;
const { outcome: _outcome, value: _value, ...AUDIT } = DRAFT;
const LARGE = JSON.stringify({ 'd/\u00e4\u{1f600}.bin': 'YWFh'.repeat(200_000) });

async function readContent(releases: ReleaseStore, id: string): Promise<string> {
  let content = '';
  for await (const part of releases.readParts(FLEET, id)) content += part;
  return content;
}

async function listStored({ query }: Database): Promise<ReadonlySet<string>> {
  const rows = await query.selectFrom('release_part').select('release').distinct().execute();
  return new Set(rows.map(({ release }) => release));
}

const addPart = ({ query }: Database, release: string, content: string) =>
  query.insertInto('release_part').values({ fleet: FLEET, release, number: 0, content }).execute();

for (const kind of BACKENDS) {
  describe(`parts of releases on ${kind.name}`, () => {
    const backend = useBackend(kind);

    const publish = (releases: ReleaseStore, id: string, base: string | null, content = '{}') =>
      releases.publish(FLEET, createReleaseDraft(id, base, splitContent(content)), null, AUDIT);

    it('together are the JSON text that was published, in ASCII', async () => {
      const { releases } = await backend.open();
      expect(await publish(releases, 'large', null, LARGE)).to.deep.equal({ outcome: 'done' });
      const lengths: number[] = [];
      for await (const part of releases.readParts(FLEET, 'large')) lengths.push(part.length);
      expect(lengths.slice(0, -1)).to.deep.equal([262_144, 262_144, 262_144]);
      const content = await readContent(releases, 'large');
      expect(content).to.match(/^[\0-\x7f]*$/);
      expect(JSON.parse(content)).to.deep.equal(JSON.parse(LARGE));
      expect(await readContent(releases, 'none')).to.equal('');
    });

    it('are removed with their release, as are those of a publish that has failed', async () => {
      const { releases } = await backend.open();
      const database = await backend.openDatabase();
      await addPart(database, 'failed', '{}');
      await publish(releases, 'r0', null, LARGE);
      expect([...(await listStored(database))]).to.deep.equal(['r0']);
      for (let number = 1; number <= KEPT; number += 1) {
        await publish(releases, `r${number}`, `r${number - 1}`);
      }
      const stored = await listStored(database);
      expect(stored.size).to.equal(KEPT);
      expect(stored.has('r0')).to.equal(false);
      expect(await releases.get(FLEET, 'r0')).to.equal(null);
    });

    it('are kept when the publish that wrote them is rejected, until the next one', async () => {
      const { releases } = await backend.open();
      const database = await backend.openDatabase();
      const rejected = await publish(releases, 'late', 'other');
      expect(rejected.outcome).to.equal('conflict');
      expect([...(await listStored(database))]).to.deep.equal(['late']);
      await publish(releases, 'first', null);
      expect([...(await listStored(database))]).to.deep.equal(['first']);
    });

    it('are written again if another process removes them before the release is stored', async () => {
      const database = (await backend.openDatabase()) as OpenedDatabase;
      let uses = 0;
      const releases = createReleaseStore(
        async (work) => {
          uses += 1;
          // After the fourth part the release itself is stored.
          if (uses === 5) await database.query.deleteFrom('release_part').execute();
          return work(database);
        },
        () => {},
      );
      expect(await publish(releases, 'large', null, LARGE)).to.deep.equal({ outcome: 'done' });
      expect(JSON.parse(await readContent(releases, 'large'))).to.deep.equal(JSON.parse(LARGE));
    });
  });
}
