import type { ReleaseEntry, ReleasesStatus } from '../../contract/release-status.js';
import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { compareDescriptors } from '../../modules/against/compare-descriptors.js';
import { formatChanges } from '../../modules/against/format-changes.js';
import type { ReleaseContent, Store, StoredRelease } from '../../store/store.js';
import { authorize } from '../authorization.js';
import { STORE } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import { sumFigures } from './decide-canary.js';
import { HOST_RELEASES, type HostReleases, RELEASES_SCOPE } from './host-releases.js';
import { prepareStored } from './open-release.js';

/**
 * Handles `GET /releases`: lists the releases of the fleet, the active one, and the state of a
 * canary.
 */
@injectable(STORE, HOST_RELEASES)
export class ListReleases implements Handler<null> {
  readonly #store: Store;
  readonly #host: HostReleases;

  constructor(store: Store, host: HostReleases) {
    this.#store = store;
    this.#host = host;
  }

  async execute(_input: null, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'scope', scope: RELEASES_SCOPE });
    return Reply.json(authorization, await this.#read().catch(rethrowStoreError));
  }

  async #read(): Promise<ReleasesStatus> {
    const { releases } = this.#store;
    const { fleet } = this.#host;
    const [state, list, hosts] = await Promise.all([
      releases.readState(fleet),
      releases.list(fleet),
      releases.listHosts(fleet),
    ]);
    const { active, canary } = state;
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
}

interface ReleaseQuery {
  readonly id: string;
  /** The release for the comparison; `null` to show the files instead. */
  readonly against: string | null;
}

/**
 * Handles `GET /releases/{id}?against=`: shows a release with its files, or its differences for
 * clients.
 */
@injectable(STORE, HOST_RELEASES)
export class ReadRelease implements Handler<ReleaseQuery> {
  readonly #store: Store;
  readonly #host: HostReleases;

  constructor(store: Store, host: HostReleases) {
    this.#store = store;
    this.#host = host;
  }

  async execute({ id, against }: ReleaseQuery, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'scope', scope: RELEASES_SCOPE });
    const release = await requireRelease(this.#store, this.#host, id);
    if (against !== null) {
      const base = await requireRelease(this.#store, this.#host, against);
      const before = await prepareStored(this.#host, base);
      const after = await prepareStored(this.#host, release);
      const difference = formatChanges(compareDescriptors(before.prepared, after.prepared));
      return Reply.json(authorization, { release: id, against, difference });
    }
    const content = JSON.parse(release.content) as Readonly<Record<string, string>>;
    return Reply.json(authorization, { ...describeRelease(release), content });
  }
}

/** @throws HostError 404, 503. */
export async function requireRelease(
  { releases }: Store,
  { fleet }: HostReleases,
  id: string,
): Promise<ReleaseContent> {
  const release = await releases.get(fleet, id).catch(rethrowStoreError);
  if (release !== null) return release;
  throw new HostError('not_found', 'no release has this digest', {
    nextActions: ['see GET /releases; old releases are removed'],
  });
}

function describeRelease(release: StoredRelease): ReleaseEntry {
  const { id, base, author, note, files, bytes, verdict } = release;
  return {
    ...{ release: id, base, author, note },
    created_at: release.createdAt,
    least_version: release.leastVersion,
    ...{ files, bytes, verdict },
  };
}
