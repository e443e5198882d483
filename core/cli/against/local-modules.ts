import type { Manifest } from '../../contract/index.js';
import {
  type CheckedFile,
  type CheckReport,
  readConfigDigest,
  readManifestOf,
} from '../check/check-report.js';

/** A module in the checked files. */
export type LocalModule =
  | {
      readonly kind: 'known';
      readonly manifest: Manifest;
      /** `null` for a manifest that was checked without its descriptor. */
      readonly configDigest: string | null;
      /** Likewise. */
      readonly responses: ResponseFacts | null;
    }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'unknown'; readonly detail: string };

/** What clients get of the responses of a module. */
export interface ResponseFacts {
  readonly mode: string;
  readonly expose_headers: readonly string[];
}

const INVALID_FILE = 'its file has errors';
const MANIFEST_UNKNOWN = 'its manifest is not available offline';

/** By module name. Files without a readable module name are left out. */
export function listLocalModules({ files }: CheckReport): Map<string, LocalModule> {
  const modules = new Map<string, LocalModule>();
  for (const checked of files) {
    if (checked.module === null) continue;
    const local = describeLocal(checked);
    // A duplicate does not change the module that has the name.
    if (local.kind === 'unknown' && modules.has(checked.module)) continue;
    modules.set(checked.module, local);
  }
  return modules;
}

function describeLocal(checked: CheckedFile): LocalModule {
  const manifest = readManifestOf(checked);
  if (checked.kind === 'descriptor') {
    if (checked.prepared === null) return { kind: 'unknown', detail: INVALID_FILE };
    if (!checked.prepared.descriptor.enabled) return { kind: 'disabled' };
  }
  if (manifest === null) {
    const detail = checked.kind === 'manifest' ? INVALID_FILE : MANIFEST_UNKNOWN;
    return { kind: 'unknown', detail };
  }
  const responses = checked.kind === 'descriptor' ? readResponses(checked) : null;
  const configDigest = checked.kind === 'descriptor' ? readConfigDigest(checked) : null;
  return { kind: 'known', manifest: manifest.manifest, configDigest, responses };
}

function readResponses({ prepared }: Extract<CheckedFile, { kind: 'descriptor' }>) {
  if (prepared === null) return null;
  const { mode, exposeHeaders } = prepared.descriptor.responses;
  return { mode, expose_headers: exposeHeaders };
}
