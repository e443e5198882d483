import type { Actor } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import {
  type InspectedDescriptor,
  isAllowedReference,
} from '../../modules/releases/inspect-release.js';
import { authorize } from '../authorization.js';
import { RELEASES_CODE_SCOPE } from './host-releases.js';

/** Kinds that run code named by the descriptor. */
const CODE_KINDS: ReadonlySet<string> = new Set(['local', 'process']);

/**
 * Checks the rights that a release requires of its author: the host's bounds for references, and
 * the scope for code and new references.
 * @param readBefore reads the descriptors of the active release
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
  const knownUses = new Set(uses.length === 0 ? [] : (await readBefore()).flatMap(listUses));
  const isNew = uses.some((use) => !knownUses.has(use));
  const hasCode = descriptors.some(({ descriptor }) => CODE_KINDS.has(descriptor.provider.kind));
  if (hasCode || isNew) authorize(actor, { kind: 'scope', scope: RELEASES_CODE_SCOPE });
}

/** A known reference counts as new when it is sent to another place. */
function listUses({ references, providerDigest }: InspectedDescriptor): readonly string[] {
  return references.map((reference) => `${reference} ${providerDigest}`);
}
