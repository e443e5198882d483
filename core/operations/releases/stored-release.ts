import { HostError } from '../../errors.js';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import type { StoredRelease } from '../../store/releases/releases.js';
import type { Store } from '../../store/store.js';
import { rethrowStoreError } from '../store-error.js';
import type { HostReleases } from './host-releases.js';
import { readStoredFiles } from './release-thread.js';

type Fleet = Pick<HostReleases, 'fleet'>;

/** @throws HostError 404, 503. */
export async function requireRelease(
  { releases }: Store,
  { fleet }: Fleet,
  id: string,
): Promise<StoredRelease> {
  const release = await releases.get(fleet, id).catch(rethrowStoreError);
  if (release === null) throw createUnknownRelease();
  return release;
}

/** @throws HostError 404 for a release that is removed meanwhile or damaged, 503. */
export async function requireFiles(
  { releases }: Store,
  { fleet }: Fleet,
  release: StoredRelease,
): Promise<ReleaseFiles> {
  const files = await readStoredFiles(releases, fleet, release).catch(rethrowStoreError);
  if (files === null) throw createUnknownRelease();
  return files;
}

/** The files of a release to compare with; none without a release, and of a damaged one. @throws HostError 503. */
export async function readFiles(
  { releases }: Store,
  { fleet }: Fleet,
  release: StoredRelease | null,
): Promise<ReleaseFiles> {
  if (release === null) return new Map();
  const files = await readStoredFiles(releases, fleet, release).catch(rethrowStoreError);
  return files ?? new Map();
}

export function createUnknownRelease(): HostError {
  return new HostError('not_found', 'no release has this digest', {
    nextActions: ['see GET /releases; old releases are removed'],
  });
}
