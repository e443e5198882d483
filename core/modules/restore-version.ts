import { parseStoredManifest } from '../manifest/load-manifest.js';
import type { ModuleVersion, ServingVersion } from './module-version.js';
import { type PreparedDescriptor, prepareDescriptor } from './prepare-descriptor.js';
import type { SlotContext } from './slot-context.js';

/**
 * Opens the last good version of a descriptor.
 * @returns `null` when none is stored, another file has its name now, or it cannot be opened
 */
export async function restoreVersion(
  file: string,
  context: SlotContext,
  open: (prepared: PreparedDescriptor) => Promise<ModuleVersion>,
): Promise<ServingVersion | null> {
  const kept = await context.lastGood.read(file);
  if (kept === null) return null;
  try {
    const manifest = parseStoredManifest(kept.manifest, null);
    if (manifest === null) return null;
    const entry = { file, path: context.pathOf(file), text: kept.text };
    const prepared = await prepareDescriptor(entry, context, manifest);
    if (!context.isNameFree(prepared.descriptor.module, file)) return null;
    const version = await open(prepared);
    return { version, live: version.createLive(manifest) };
  } catch (error) {
    context.log.warn({ err: error, file }, 'last good version cannot be opened');
    return null;
  }
}
