import { array } from 'superstruct';
import { matching, optionally, withDefault } from '../../contract/described.js';
import type { Violation } from '../../document/diagnostic.js';
import { canBeSegment } from '../../lib/routing/path-segment.js';
import { BUILTIN_UI, capability, DIGEST, digest } from '../identifiers.js';
import { ANY_CHANGE, defineSection } from '../section.js';
import { filledMapping } from '../struct-members.js';

const uiArtifact = matching(
  `a digest: sha256: and 64 lower-case hex digits, or ${BUILTIN_UI}`,
  new RegExp(`^${BUILTIN_UI}$|${DIGEST.source}`),
);

export const consoleSection = defineSection({
  struct: filledMapping('console', 'Who may use the console bridge of this module.', {
    release: optionally(digest, {
      description: "Release that the grants are for. Default: the manifest's digest.",
    }),
    ui: withDefault(array(uiArtifact), [], {
      description: "UI artifacts that may call: digests, or 'builtin' for the host's own console.",
    }),
    grants: withDefault(array(capability), [], {
      description: 'Permissions that these artifacts may use.',
    }),
  }),
  warn: ({ grants }) => grants.flatMap(findUncallable),
  isFreeChange: ANY_CHANGE,
});

/** A permission is a segment of the bridge's path, which cannot contain every capability. */
function findUncallable(permission: string, index: number): Violation[] {
  if (canBeSegment(permission)) return [];
  const message = `'console.grants[${index}]' can be granted but never called: it cannot be a segment of a request path`;
  const hint = 'name the capability without / \\ ? # and percent-encoding';
  const path = ['console', 'grants', index];
  return [{ rule: 'uncallable-permission', message, hint, path, at: 'value' }];
}
