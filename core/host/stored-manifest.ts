import type { Descriptor } from '../descriptor/descriptor.js';
import type { ReadManifest } from '../manifest/load-manifest.js';
import { parseManifest } from '../manifest/parse-manifest.js';
import { InvalidFile } from './finding.js';
import { manifestDigest } from './manifest-digest.js';

/**
 * A manifest that was kept from before; `null` when it is bad (the rules may have changed since) or not
 * the one that the descriptor pins.
 */
export function parseStoredManifest(
  value: unknown,
  descriptor: Pick<Descriptor, 'manifestDigest'> | null,
): ReadManifest | null {
  try {
    const { manifest } = parseManifest(value, { file: 'last good manifest', locate: () => null });
    const digest = manifestDigest(manifest);
    const pin = descriptor?.manifestDigest ?? null;
    if (pin !== null && pin !== digest) return null;
    return { manifest, digest, warnings: [], files: [] };
  } catch (error) {
    if (error instanceof InvalidFile) return null;
    throw error;
  }
}
