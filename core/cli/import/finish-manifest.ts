import { type DraftManifest, type ImportedManifest, listCapabilities } from './draft-manifest.js';
import { dropRejectedParts } from './drop-rejected-parts.js';
import { fitManifest } from './fit-manifest.js';
import { dropUnused } from './fit-schemas.js';
import { loosenManifest } from './loosen-manifest.js';
import type { UnmappedParts } from './unmapped.js';

/**
 * Makes a manifest follow the rules of the host, and lists each part that has to be left out.
 * @param kinds of providers, whose adapters validate the members of operations with these names
 */
export function finishManifest(
  manifest: DraftManifest,
  unmapped: UnmappedParts,
  kinds: readonly string[] = [],
): ImportedManifest {
  const opened = new Set<string>();
  loosenManifest(manifest, opened, unmapped);
  fitManifest(manifest, unmapped, opened);
  dropRejectedParts(manifest, unmapped, opened, kinds);
  dropUnused(manifest);
  manifest.capabilities = listCapabilities(manifest);
  const { schemas, ...others } = manifest;
  return Object.keys(schemas).length > 0 ? manifest : others;
}
