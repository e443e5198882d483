import type { Descriptor } from '../descriptor/descriptor.js';
import { compareTexts } from '../lib/compare-texts.js';
import type { LiveModule } from './live-module.js';
import type { ModuleState } from './module-states.js';

/** One descriptor as operators see it: its state, the reason, and the serving version. */
export interface ModuleRecord {
  readonly file: string;
  /** `null` if the descriptor could not be read. */
  readonly name: string | null;
  readonly state: ModuleState;
  readonly since: Date;
  readonly reason: string | null;
  readonly hint: string | null;
  /** How often the host has requested the manifest of the pending version. */
  readonly attempts: number;
  /** The content of the file, or the last good content. */
  readonly descriptor: Descriptor | null;
  /** The serving version; `null` if there is none. */
  readonly live: LiveModule | null;
  /** The digest of the descriptor text in use; `null` if there is none. */
  readonly fileDigest: string | null;
  /** The content of the file if it was rejected; otherwise `null`. */
  readonly rejected: RejectedDigests | null;
  /** Uncaught errors in the module's code, over all its versions. */
  readonly uncaughtErrors: number;
}

/** By name, those without a name first, then by file. */
export function compareRecords(a: NamedFile, b: NamedFile): number {
  return compareTexts(a.name ?? '', b.name ?? '') || compareTexts(a.file, b.file);
}

type NamedFile = Pick<ModuleRecord, 'name' | 'file'>;

/** Digests of a rejected version; `null` if they could not be computed. */
export interface RejectedDigests {
  /** The digest of the descriptor text. */
  readonly file: string | null;
  readonly manifest: string | null;
  readonly config: string | null;
}

/** In wire names. */
export function describeDigests({ live, fileDigest, rejected }: ModuleRecord) {
  return {
    digest: live?.manifestDigest ?? null,
    config_digest: live?.configDigest ?? null,
    file_digest: fileDigest,
    rejected_digest: rejected?.file ?? null,
    rejected_manifest_digest: rejected?.manifest ?? null,
    rejected_config_digest: rejected?.config ?? null,
  };
}
