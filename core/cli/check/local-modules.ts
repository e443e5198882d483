import type { Manifest } from '../../contract/index.js';
import {
  type CheckedFile,
  type CheckReport,
  readConfigDigest,
  readManifestOf,
} from './check-report.js';

/** What the files that were checked say of one module. */
export type LocalModule =
  | {
      readonly kind: 'known';
      readonly manifest: Manifest;
      /** `null` for a manifest that was checked without its descriptor. */
      readonly configDigest: string | null;
    }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'unknown'; readonly detail: string };

const BAD_FILE = 'its file has errors';
const MANIFEST_NOT_AT_HAND = 'its manifest is not at hand';

/** By module; a file whose module cannot be read is not among them. */
export function listLocalModules({ files }: CheckReport): Map<string, LocalModule> {
  const modules = new Map<string, LocalModule>();
  for (const checked of files) {
    if (checked.module === null) continue;
    const local = describeLocal(checked);
    // The loser of a name changes nothing for the one that has it.
    if (local.kind === 'unknown' && modules.has(checked.module)) continue;
    modules.set(checked.module, local);
  }
  return modules;
}

function describeLocal(checked: CheckedFile): LocalModule {
  const manifest = readManifestOf(checked);
  if (checked.kind === 'descriptor') {
    if (checked.prepared === null) return { kind: 'unknown', detail: BAD_FILE };
    if (!checked.prepared.descriptor.enabled) return { kind: 'disabled' };
  }
  if (manifest === null) {
    const detail = checked.kind === 'manifest' ? BAD_FILE : MANIFEST_NOT_AT_HAND;
    return { kind: 'unknown', detail };
  }
  const configDigest = checked.kind === 'descriptor' ? readConfigDigest(checked) : null;
  return { kind: 'known', manifest: manifest.manifest, configDigest };
}
