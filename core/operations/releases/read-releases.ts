import {
  type ReleaseEntry,
  type ReleasesStatus,
  releasesStatus,
} from '../../contract/release-status.js';
import { DIGEST } from '../../descriptor/identifiers.js';
import { shortenDigest } from '../../lib/short-digest.js';
import { compareDescriptors } from '../../modules/against/compare-descriptors.js';
import { formatChanges } from '../../modules/against/format-changes.js';
import type { PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import type { StoredRelease } from '../../store/releases/releases.js';
import type { Store } from '../../store/store.js';
import { STORE } from '../injection-tokens.js';
import { defineListing } from '../listing.js';
import { digestParameter } from '../query.js';
import { Reply } from '../reply.js';
import { defineResource } from '../resource.js';
import { rethrowStoreError } from '../store-error.js';
import { sumFigures } from './decide-canary.js';
import { HOST_RELEASES, type HostReleases } from './host-releases.js';
import { prepareStored } from './open-release.js';
import { readStoredParts } from './release-thread.js';
import { requireFiles, requireRelease } from './stored-release.js';

/** Lists the releases of the fleet, the active one, and the state of a canary. */
export const RELEASES = defineResource({
  text: 'the [releases](../operate/fleet.md#releases), newest first, and the `canary` while one is tried',
  listing: defineListing({
    struct: releasesStatus,
    rows: 'releases',
    title: 'Releases, newest first',
    columns: {
      release: { title: 'Release', as: 'digest' },
      verdict: { title: 'State', as: 'state' },
      created_at: { title: 'Created', as: 'time' },
      author: { title: 'Author', as: 'actor' },
      files: { title: 'Files', as: 'number' },
      base: { title: 'From', as: 'digest' },
      note: { title: 'Note', as: 'sentence' },
    },
    cell: (member, release, status) =>
      member === 'verdict' ? describeState(release, status) : undefined,
    linesAfter: ({ active, canary, hosts }) => [
      ...(active === null ? ['no release is active'] : []),
      ...(canary === null ? [] : [describeCanary(canary)]),
      ...hosts.flatMap(({ host, problem }) =>
        problem === null ? [] : `${host} does not serve ${problem}`,
      ),
    ],
  }),
  needs: [STORE, HOST_RELEASES],
  answer: (_call, store, host) => readStatus(store, host).catch(rethrowStoreError),
});

function describeState({ release, verdict }: ReleaseEntry, status: ReleasesStatus): string {
  if (release === status.active) return 'active';
  if (release === status.canary?.release) return 'canary';
  return verdict?.outcome ?? '-';
}

function describeCanary({ release, hosts, until }: NonNullable<ReleasesStatus['canary']>): string {
  return `canary ${shortenDigest(release)} on ${hosts.join(', ')} until ${until}`;
}

async function readStatus({ releases }: Store, { fleet }: HostReleases): Promise<ReleasesStatus> {
  const [{ active, canary }, list, hosts] = await Promise.all([
    releases.readState(fleet),
    releases.list(fleet),
    releases.listHosts(fleet),
  ]);
  return {
    active,
    canary:
      canary === null
        ? null
        : {
            release: canary.release,
            since: canary.since,
            until: canary.until,
            hosts: canary.hosts,
            modules: sumFigures(canary, hosts),
          },
    releases: list.map(describeRelease),
    hosts: hosts.map(({ host, release, problem }) => ({ host, release, problem })),
  };
}

/** Shows a release with its files, or its differences for clients. */
export const RELEASE = defineResource({
  text: 'the same for one release, with `content`: its files in base64 by path; `?against=` (a release) answers `{release, against, difference}` instead: lines as `modgate check --against` prints them',
  ids: DIGEST,
  query: { against: digestParameter },
  needs: [STORE, HOST_RELEASES],
  answer: async ({ params: { id = '' }, query: { against }, authorization }, store, host) => {
    const release = await requireRelease(store, host, id);
    if (against !== null) {
      const before = await prepare(store, host, await requireRelease(store, host, against));
      const after = await prepare(store, host, release);
      const difference = formatChanges(await compareDescriptors(before, after));
      return { release: id, against, difference };
    }
    const { releases } = store;
    const content = await readStoredParts(releases, host.fleet, id).catch(rethrowStoreError);
    // It may have been removed meanwhile.
    await requireRelease(store, host, id);
    const description = JSON.stringify(describeRelease(release));
    // The parts are JSON already; a large text would take long to parse and to write.
    const start = Buffer.from(`${description.slice(0, -1)},"content":`);
    return Reply.ok(authorization, [start, ...content, Buffer.from('}')]);
  },
});

async function prepare(
  store: Store,
  host: HostReleases,
  release: StoredRelease,
): Promise<readonly PreparedDescriptor[]> {
  return (await prepareStored(host, await requireFiles(store, host, release))).prepared;
}

function describeRelease(stored: StoredRelease): ReleaseEntry {
  const { id, base, author_kind, author_id, ...release } = stored;
  return { release: id, base, author: { kind: author_kind, id: author_id }, ...release };
}
