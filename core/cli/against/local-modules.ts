import type { MountedModule } from '../../descriptor/sections/mount.js';
import {
  type CheckedModule,
  readAccess,
  readResponses,
} from '../../modules/against/local-module.js';
import { listMounts } from '../check/check-descriptors.js';
import {
  type CheckedFile,
  type CheckReport,
  readConfigDigest,
  readManifestOf,
} from '../check/check-report.js';

const INVALID_FILE = 'its file has errors';
const MANIFEST_UNKNOWN = 'its manifest is not available offline';

/**
 * Lists the modules by name, without files whose module name is unreadable.
 * @param others the mounts of modules that are not checked
 */
export function listLocalModules(
  { files }: CheckReport,
  others: readonly MountedModule[],
): Map<string, CheckedModule> {
  const modules = new Map<string, CheckedModule>();
  const checked = new Set(files.map(({ module }) => module));
  const mounts = [
    ...listMounts(files.flatMap(describeMounts)),
    ...others.filter(({ module }) => !checked.has(module)),
  ];
  for (const checked of files) {
    if (checked.module === null) continue;
    const local = describeLocal(checked, mounts);
    // A duplicate does not replace the module that already has the name.
    if (local.kind === 'unknown' && modules.has(checked.module)) continue;
    modules.set(checked.module, local);
  }
  return modules;
}

function describeMounts(checked: CheckedFile) {
  if (checked.kind === 'manifest' || !checked.prepared?.descriptor.enabled) return [];
  const { module, mount: mounts } = checked.prepared.descriptor;
  return [{ module, mounts }];
}

function describeLocal(checked: CheckedFile, mounts: readonly MountedModule[]): CheckedModule {
  const manifest = readManifestOf(checked);
  if (checked.kind === 'descriptor') {
    if (checked.prepared === null) return { kind: 'unknown', detail: INVALID_FILE };
    if (!checked.prepared.descriptor.enabled) return { kind: 'disabled' };
  }
  if (manifest === null) {
    const detail = checked.kind === 'manifest' ? INVALID_FILE : MANIFEST_UNKNOWN;
    return { kind: 'unknown', detail };
  }
  const descriptor = checked.kind === 'descriptor' ? checked.prepared?.descriptor : undefined;
  const responses = descriptor === undefined ? null : readResponses(descriptor);
  const configDigest = checked.kind === 'descriptor' ? readConfigDigest(checked) : null;
  const access = descriptor === undefined ? null : readAccess(descriptor, mounts);
  return { kind: 'known', manifest: manifest.manifest, configDigest, responses, access };
}
