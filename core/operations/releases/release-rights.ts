import type { Actor } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import {
  type InspectedDescriptor,
  isAllowedReference,
} from '../../modules/releases/inspect-release.js';
import { authorize } from '../authorization.js';
import { RELEASES_CODE_SCOPE } from './host-releases.js';

/** Kinds that run code which the descriptor names. */
const CODE_KINDS: ReadonlySet<string> = new Set(['local', 'process']);

/**
 * Requires what a release asks of its author: the bounds of the host for references, and the scope for code and for
 * references that are new.
 * @param readBefore the descriptors of the release that is active
 * @throws HostError 403.
 */
export async function assertReleaseRights(
  actor: Actor,
  descriptors: readonly InspectedDescriptor[],
  readBefore: () => Promise<readonly InspectedDescriptor[]>,
  patterns: readonly string[],
): Promise<void> {
  const outside = descriptors.flatMap(({ entry, references }) =>
    references
      .filter((reference) => !isAllowedReference(reference, patterns))
      .map((reference) => ({
        field: entry.file,
        reason: `${reference} is not among --release-references`,
      })),
  );
  if (outside.length > 0) {
    throw new HostError('forbidden', 'a release may not use these references of the host', {
      errors: outside,
      nextActions: ['ask the operators of the hosts for --release-references that allow them'],
      reason: 'release-references',
    });
  }
  const uses = descriptors.flatMap(listUses);
  const known = new Set(uses.length === 0 ? [] : (await readBefore()).flatMap(listUses));
  const isNew = uses.some((use) => !known.has(use));
  const hasCode = descriptors.some(({ descriptor }) => CODE_KINDS.has(descriptor.provider.kind));
  if (hasCode || isNew) authorize(actor, { kind: 'scope', scope: RELEASES_CODE_SCOPE });
}

/** A known reference that is sent to another place is a new one. */
function listUses({ references, providerDigest }: InspectedDescriptor): readonly string[] {
  return references.map((reference) => `${reference} ${providerDigest}`);
}
