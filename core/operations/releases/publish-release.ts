import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { compareVersions } from '../../lib/compare-versions.js';
import {
  digestRelease,
  encodeFiles,
  type ReleaseFiles,
} from '../../modules/releases/release-files.js';
import type { CanaryDraft, ReleaseContent } from '../../store/releases/releases.js';
import type { Store } from '../../store/store.js';
import { authorize } from '../authorization.js';
import { STORE } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import { HOST_RELEASES, type HostReleases, RELEASES_SCOPE } from './host-releases.js';
import { inspectStored, prepareStored, type ReleaseModule, withRelease } from './open-release.js';
import { createConflict } from './release-conflict.js';
import { assertReleaseRights } from './release-rights.js';

export interface PublishInput {
  readonly files: ReleaseFiles;
  readonly base: string | null;
  readonly note: string;
  /** The least version of modgate; `null` for that of the host. */
  readonly leastVersion: string | null;
  readonly canary: { readonly share: number; readonly allowUnproven: boolean } | null;
}

/** Handles `POST /releases`: stores a release, and makes it active or a canary. */
@injectable(STORE, HOST_RELEASES)
export class PublishRelease implements Handler<PublishInput> {
  readonly #store: Store;
  readonly #host: HostReleases;

  constructor(store: Store, host: HostReleases) {
    this.#store = store;
    this.#host = host;
  }

  async execute(input: PublishInput, request: CallerRequest): Promise<Reply> {
    const { actor, requestId, correlationId } = request;
    const authorization = authorize(actor, { kind: 'scope', scope: RELEASES_SCOPE });
    const { fleet, version } = this.#host;
    const { files, base, note } = input;
    const leastVersion = input.leastVersion ?? version;
    if (compareVersions(version, leastVersion) < 0) {
      throw createInvalid('least_version', `this host is modgate ${version}`);
    }
    const { releases } = this.#store;
    const before = base === null ? null : await releases.get(fleet, base).catch(rethrowStoreError);
    const content = encodeFiles(files);
    const modules = await withRelease(this.#host, files, async ({ inspect, check }) => {
      // Checks rights first: named files must not be read before the author may name them.
      const readBefore = () => inspectStored(this.#host, before);
      await assertReleaseRights(actor, await inspect(), readBefore, this.#host.patterns);
      const state = await releases.readState(fleet).catch(rethrowStoreError);
      if (state.active !== base || state.canary !== null) {
        throw createConflict({ ...state, canary: state.canary?.release ?? null });
      }
      const isSame = before?.content === content && before.leastVersion === leastVersion;
      return isSame ? null : await check();
    });
    if (modules === null) {
      return Reply.json(authorization, { release: base, outcome: 'unchanged' });
    }
    const id = digestRelease(files, { base, leastVersion });
    const canary = input.canary === null ? null : await this.#plan(input.canary, modules, before);
    let bytes = 0;
    for (const file of files.values()) bytes += file.length;
    const author = { kind: actor.kind, id: actor.id };
    const draft = { id, base, author, note, leastVersion, files: files.size, bytes, content };
    const operation = canary === null ? 'release_publish' : 'release_canary';
    const audit = {
      ...{ actor: author, module: '', permission: RELEASES_SCOPE, operation, target: id },
      ...{ requestId, correlationId },
    };
    const result = await releases.publish(fleet, draft, canary, audit).catch(rethrowStoreError);
    if (result.outcome === 'conflict') throw createConflict(result);
    return Reply.json(authorization, {
      release: id,
      outcome: canary === null ? 'active' : 'canary',
    });
  }

  /** @throws HostError 400 for a fleet that is too small. */
  async #plan(
    { share, allowUnproven }: NonNullable<PublishInput['canary']>,
    modules: ReadonlyMap<string, ReleaseModule>,
    before: ReleaseContent | null,
  ): Promise<CanaryDraft> {
    const hosts = await this.#selectHosts(share);
    const previousModules = before && (await prepareStored(this.#host, before)).modules;
    const changed = [...modules].filter(
      ([name, { digest }]) => previousModules?.get(name)?.digest !== digest,
    );
    return {
      hosts,
      allowUnproven,
      seconds: Math.max(
        ...(changed.length === 0 ? [30] : changed.map(([, module]) => module.seconds)),
      ),
      rules: Object.fromEntries(changed.map(([name, { rule }]) => [name, rule])),
    };
  }

  async #selectHosts(share: number): Promise<readonly string[]> {
    const { fleet, hasFleet } = this.#host;
    if (!hasFleet) throw createInvalid('canary', 'the host belongs to no fleet');
    const { fleetHosts, releases } = this.#store;
    const [members, followers] = await Promise.all([
      fleetHosts.list(fleet).catch(rethrowStoreError),
      releases.listHosts(fleet).catch(rethrowStoreError),
    ]);
    const following = new Set(followers.map(({ host }) => host));
    const ready = members.filter(({ id, state }) => state === 'ready' && following.has(id));
    if (ready.length < 2) {
      throw createInvalid(
        'canary',
        `${ready.length} hosts that follow releases are ready: 2 are needed`,
      );
    }
    // Rounds up, but never to all hosts. Drops the noise of fractions such as 0.1 * 30.
    const wanted = Math.ceil(Number((share * ready.length).toFixed(6)));
    const count = Math.min(Math.max(1, wanted), ready.length - 1);
    return ready.slice(0, count).map(({ id }) => id);
  }
}

function createInvalid(field: string, reason: string): HostError {
  return new HostError('validation_failed', `the ${field} of the release is not possible`, {
    errors: [{ field, reason }],
  });
}
