import type { Diagnostic } from '../../document/diagnostic.js';
import type { LoadedManifest } from '../../manifest/load-manifest.js';
import { configDigestOf, type PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import type { IgnoredFile } from '../../watch/directory.js';

export function readManifestOf(checked: CheckedFile) {
  return checked.kind === 'manifest' ? checked.manifest : (checked.prepared?.manifest ?? null);
}

/** The `config_digest` of `GET /modules`; `null` while the manifest or a file of a secret is missing. */
export function readConfigDigest({ prepared }: CheckedFile & { kind: 'descriptor' }) {
  const manifest = prepared?.manifest ?? null;
  if (prepared === null || manifest === null) return null;
  // Only files are relevant: variables are not part of the digest.
  const isMissingFile = prepared.missingSecrets.some(({ reference }) => !isVariable(reference));
  if (isMissingFile) return null;
  return configDigestOf(prepared.inputDigest, manifest.digest);
}

export type CheckedFile = {
  readonly file: string;
  /** The module of the file; `null` if it cannot be read. */
  readonly module: string | null;
} & (
  | { readonly kind: 'descriptor'; readonly prepared: PreparedDescriptor | null }
  | { readonly kind: 'manifest'; readonly manifest: LoadedManifest | null }
);

/** Information that is neither an error nor a warning. */
export interface CheckNote {
  readonly file: string;
  readonly message: string;
}

/** The result of `check`. File names are relative to the working directory: see `describeFile`. */
export interface CheckReport {
  /** Whether a whole folder was checked, so that a module without a file counts as removed. */
  readonly isFolder: boolean;
  readonly files: readonly CheckedFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly notes: readonly CheckNote[];
  readonly ignored: readonly IgnoredFile[];
}

function isVariable(reference: string): boolean {
  return reference.startsWith('env:');
}

interface CheckSummary {
  readonly files: number;
  readonly errors: number;
  readonly warnings: number;
}

export function summarize({ files, diagnostics }: CheckReport): CheckSummary {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return { files: files.length, errors, warnings: diagnostics.length - errors };
}
