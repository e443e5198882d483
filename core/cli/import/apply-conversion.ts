import type { JsonObject } from '../json-value.js';
import { compareManifests, type ManifestChange } from './compare-manifests.js';
import type { Conversion } from './conversion.js';
import type { ImportReport } from './format-import.js';
import type { ImportFiles } from './import-files.js';
import { isOperation } from './unmapped.js';

const NO_OPERATIONS = 'the source describes no operations: the module has no routes';

interface ApplyOptions {
  readonly module: string;
  readonly write?: true;
  readonly check?: true;
}

/** Writes the files of a first import; a later one is compared, and written only with `write`. */
export async function applyConversion(
  files: ImportFiles,
  earlier: JsonObject | null,
  conversion: Conversion,
  { module, write, check }: ApplyOptions,
): Promise<ImportReport> {
  const { manifest, config, unmapped } = conversion;
  const { http_routes: routes, capabilities } = manifest;
  const isEmpty = routes.length === 0 && !unmapped.some(isOperation);
  const notes = isEmpty ? [NO_OPERATIONS, ...conversion.notes] : conversion.notes;
  const base = { module, routes: routes.length, capabilities, unmapped, notes };
  if (earlier === null) {
    const written = check === true ? [] : await files.create(conversion);
    return { ...base, written, changes: null };
  }
  const changes = compareManifests(earlier, manifest as unknown as JsonObject);
  const changedFiles = await files.findChangedFiles(conversion.files);
  const moved = await files.findMoved(config, conversion.replaces);
  const written: string[] = [];
  if (write === true) {
    for (const name of changedFiles) {
      await files.replaceFile(name, conversion.files[name] ?? new Uint8Array());
      written.push(files.pathOf(name));
    }
    if (changes.length > 0) {
      await files.replaceManifest(manifest);
      written.push(files.manifest);
    }
    if (moved.length > 0) {
      await files.replaceMembers(config, moved);
      written.push(files.descriptor);
    }
  }
  const others = [
    ...changedFiles.map((name) => `the file ${name}`),
    ...moved.map((name) => `provider.config.${name} in the descriptor`),
  ];
  return { ...base, written, changes: [...changes, ...others.map(describeUnnoticed)] };
}

/** Clients do not see the descriptor, nor files beside the manifest. */
function describeUnnoticed(place: string): ManifestChange {
  return { change: 'changed', place, affectsClients: false };
}
