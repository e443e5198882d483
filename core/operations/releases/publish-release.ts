import { HostError } from '../../errors.js';
import { compareVersions } from '../../lib/compare-versions.js';
import { listServedPlaces } from '../../modules/releases/needs-code.js';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import type { CanaryDraft } from '../../store/releases/releases.js';
import type { Store } from '../../store/store.js';
import { STORE } from '../injection-tokens.js';
import { defineResource } from '../resource.js';
import { rethrowStoreError } from '../store-error.js';
import { HOST_RELEASES, type HostReleases, RELEASES_SCOPE } from './host-releases.js';
import { inspectStored, prepareStored, type ReleaseModule, withRelease } from './open-release.js';
import type { ReadPublish } from './read-publish.js';
import { createConflict } from './release-conflict.js';
import { assertReleaseRights } from './release-rights.js';
import { parsePublish } from './release-thread.js';
import { readFiles } from './stored-release.js';

/** Stores a release, and makes it active or a canary. */
export const PUBLICATION = defineResource({
  text: '`{files, base, note?, least_version?, canary?: {share, allow_unproven?}}`: stores a release and makes it active or a canary; `{release, outcome}` with `active`, `canary` or `unchanged`; 409 if another release than `base` is active, or a canary is tried. For code and other uses of credentials it also requires `modgate.releases.code`',
  needs: [STORE, HOST_RELEASES],
  answer: async ({ body, request }, store, host) => {
    const input = await parsePublish(body);
    const { actor, requestId, correlationId } = request;
    const { fleet, version, patterns } = host;
    const { id, files, parts, base, note, leastVersion } = input;
    if (compareVersions(version, leastVersion) < 0) {
      throw createInvalid('least_version', `this host is modgate ${version}`);
    }
    const { releases } = store;
    const before = base === null ? null : await releases.get(fleet, base).catch(rethrowStoreError);
    let reading: Promise<ReleaseFiles> | undefined;
    const readBefore = () => {
      reading ??= readFiles(store, host, before);
      return reading;
    };
    const stored = await store.config.listSecrets().catch(rethrowStoreError);
    const checked = await withRelease(host, files, stored, async ({ inspect, check }) => {
      // Checks rights first: named files must not be read before the author may name them.
      const inspectBefore = async () => inspectStored(host, await readBefore(), stored);
      const inspected = await inspect();
      await assertReleaseRights(actor, inspected, inspectBefore, { patterns, stored });
      const state = await releases.readState(fleet).catch(rethrowStoreError);
      if (state.active !== base || state.canary !== null) {
        throw createConflict({ ...state, canary: state.canary?.release ?? null });
      }
      const isSame =
        before?.least_version === leastVersion && hasSameFiles(files, await readBefore());
      return isSame ? null : { modules: await check(), places: listServedPlaces(inspected) };
    });
    if (checked === null) return { release: base, outcome: 'unchanged' };
    const { modules, places } = checked;
    const canary =
      input.canary === null
        ? null
        : await planCanary(store, host, input.canary, modules, await readBefore());
    let bytes = 0;
    for (const file of files.values()) bytes += file.length;
    const author = { kind: actor.kind, id: actor.id };
    const draft = {
      ...{ id, base, note, bytes, parts, author_kind: actor.kind, author_id: actor.id },
      ...{ least_version: leastVersion, files: files.size },
    };
    const operation = canary === null ? 'release_publish' : 'release_canary';
    const audit = {
      ...{ actor: author, module: '', permission: RELEASES_SCOPE, operation, target: id },
      ...{ requestId, correlationId },
    };
    const result = await releases
      .publish(fleet, draft, canary, audit, places)
      .catch(rethrowStoreError);
    if (result.outcome === 'conflict') throw createConflict(result);
    return { release: id, outcome: canary === null ? 'active' : 'canary' };
  },
});

/** @throws HostError 400 for a fleet that is too small. */
async function planCanary(
  store: Store,
  host: HostReleases,
  { share, allowUnproven }: NonNullable<ReadPublish['canary']>,
  modules: ReadonlyMap<string, ReleaseModule>,
  before: ReleaseFiles,
): Promise<CanaryDraft> {
  const hosts = await selectHosts(store, host, share);
  const previous = (await prepareStored(host, before)).modules;
  const changed = [...modules].filter(
    ([name, { digest }]) => previous.get(name)?.digest !== digest,
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

async function selectHosts(
  { fleetHosts, releases }: Store,
  { fleet, hasFleet }: HostReleases,
  share: number,
): Promise<readonly string[]> {
  if (!hasFleet) throw createInvalid('canary', 'the host belongs to no fleet');
  const [members, followers] = await Promise.all([
    fleetHosts.list(fleet).catch(rethrowStoreError),
    releases.listHosts(fleet).catch(rethrowStoreError),
  ]);
  const following = new Set(followers.map(({ host }) => host));
  const ready = members.filter(({ id, state }) => state === 'ready' && following.has(id));
  if (ready.length < 2) {
    const reason = `${ready.length} hosts that follow releases are ready: 2 are needed`;
    throw createInvalid('canary', reason);
  }
  // Rounds up, but never to all hosts. Drops the noise of fractions such as 0.1 * 30.
  const wanted = Math.ceil(Number((share * ready.length).toFixed(6)));
  const count = Math.min(Math.max(1, wanted), ready.length - 1);
  return ready.slice(0, count).map(({ id }) => id);
}

function hasSameFiles(files: ReleaseFiles, others: ReleaseFiles): boolean {
  if (files.size !== others.size) return false;
  for (const [path, content] of files) {
    if (others.get(path)?.equals(content) !== true) return false;
  }
  return true;
}

function createInvalid(field: string, reason: string): HostError {
  return new HostError('validation_failed', `the ${field} of the release is not possible`, {
    errors: [{ field, reason }],
  });
}
