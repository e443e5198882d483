import type { Actor } from '../../contract/index.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import { forEachInSlices } from '../../lib/slices.js';
import { isAllowedReference } from '../../modules/releases/inspect-release.js';
import {
  type InspectedRelease,
  listCodeNeeds,
  type StoredSecrets,
} from '../../modules/releases/needs-code.js';
import { authorize } from '../authorization.js';
import { RELEASES_CODE_SCOPE } from './host-releases.js';

const MAX_CAUSES = 20;
const MAX_OUTSIDE = 100;

interface ReleaseBounds {
  /** The references of the host that releases may use. */
  readonly patterns: readonly string[];
  readonly stored: StoredSecrets;
}

/**
 * Checks the rights that a release requires of its author: the host's bounds for references, and
 * the scope for code and for another use of credentials.
 * @param readActive reads the active release
 * @throws HostError 403.
 */
export async function assertReleaseRights(
  actor: Actor,
  release: InspectedRelease,
  readActive: () => Promise<InspectedRelease>,
  { patterns, stored }: ReleaseBounds,
): Promise<void> {
  const outside = await listOutside(release, patterns);
  if (outside.length > 0) {
    throw new HostError('forbidden', 'a release may not use these references of the host', {
      errors: outside,
      nextActions: ['ask the operators of the hosts for --release-references that allow them'],
      reason: 'release-references',
    });
  }
  const causes = (await listCodeNeeds(release, readActive, stored)).slice(0, MAX_CAUSES);
  if (causes.length > 0) authorize(actor, { kind: 'scope', scope: RELEASES_CODE_SCOPE, causes });
}

async function listOutside(
  { descriptors }: InspectedRelease,
  patterns: readonly string[],
): Promise<readonly ErrorDetail[]> {
  const outside: ErrorDetail[] = [];
  await forEachInSlices(descriptors, ({ entry, references }) => {
    for (const reference of references) {
      if (outside.length === MAX_OUTSIDE) return;
      if (isAllowedReference(reference, patterns)) continue;
      const reason = `${reference} is not among --release-references`;
      outside.push({ field: entry.file, reason });
    }
  });
  return outside;
}
