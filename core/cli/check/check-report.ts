import type { Diagnostic } from '../../document/diagnostic.js';
import type { LoadedManifest } from '../../manifest/load-manifest.js';
import { configDigestOf, type PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import type { IgnoredFile } from '../../watch/directory.js';

export function readManifestOf(checked: CheckedFile) {
  return checked.kind === 'manifest' ? checked.manifest : (checked.prepared?.manifest ?? null);
}

/** What `GET /modules` will call `config_digest` (contract 8); `null` without the manifest at hand. */
export function readConfigDigest({ prepared }: CheckedFile & { kind: 'descriptor' }) {
  const manifest = prepared?.manifest ?? null;
  if (prepared === null || manifest === null) return null;
  return configDigestOf(prepared.inputDigest, manifest.digest);
}

/** A file that was judged as a whole. */
export type CheckedFile = {
  readonly file: string;
  /** The module that it is for; `null` where that could not be read. */
  readonly module: string | null;
} & (
  | { readonly kind: 'descriptor'; readonly prepared: PreparedDescriptor | null }
  | { readonly kind: 'manifest'; readonly manifest: LoadedManifest | null }
);

/** What is worth knowing and neither wrong nor doubtful. */
export interface CheckNote {
  readonly file: string;
  readonly message: string;
}

/** All that `check` found; files are named for people: see `describeFile`. */
export interface CheckReport {
  /** Whether a folder was checked: only then is what is missing in it missing. */
  readonly isFolder: boolean;
  readonly files: readonly CheckedFile[];
  readonly findings: readonly Diagnostic[];
  readonly notes: readonly CheckNote[];
  readonly ignored: readonly IgnoredFile[];
}

export interface CheckSummary {
  readonly files: number;
  readonly errors: number;
  readonly warnings: number;
}

export function summarize({ files, findings }: CheckReport): CheckSummary {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return { files: files.length, errors, warnings: findings.length - errors };
}
