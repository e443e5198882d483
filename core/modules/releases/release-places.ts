import { dirname } from 'node:path';
import { InvalidFile } from '../../document/diagnostic.js';
import { nextTurn } from '../../lib/slices.js';
import { readDeliveryPlace } from '../delivery-place.js';
import { findSigner } from '../find-signer.js';
import { type DescriptorContext, readLocalManifest } from '../prepare-descriptor.js';
import type { InspectedDescriptor } from './inspect-release.js';

/**
 * Where the descriptors of a release would deliver configuration, by module. Reads files of the release alone.
 * @param isWanted whether the place of a module matters
 * @returns without modules whose manifest is invalid
 */
export async function readPlaces(
  descriptors: readonly InspectedDescriptor[],
  { plugins }: Pick<DescriptorContext, 'plugins'>,
  isWanted: (module: string) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>();
  for (const { entry, descriptor } of descriptors) {
    if (!isWanted(descriptor.module)) continue;
    await nextTurn();
    const baseDir = dirname(entry.path);
    const adapter = await plugins.adapter(descriptor.provider.kind);
    const signer = await findSigner(descriptor, plugins);
    try {
      const { file, text } = entry;
      const input = { descriptor, file, text, locate: () => null, baseDir };
      const loaded = await readLocalManifest(input);
      if (loaded === null) continue;
      const placed = { descriptor, adapter, signer, baseDir };
      places.set(descriptor.module, await readDeliveryPlace(placed, loaded.manifest));
    } catch (error) {
      if (!(error instanceof InvalidFile)) throw error;
    }
  }
  return places;
}
