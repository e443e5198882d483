import type { ModuleDigests } from '../contract/module-status.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { Mount } from '../descriptor/sections/mount.js';
import { compareTexts } from '../lib/compare-texts.js';
import type { LiveModule } from './live-module.js';

/** All states of a module. `core/modules/slot-reducer.ts` decides about the current one. */
export const MODULE_STATES = [
  /** The manifest is pending. With the last good manifest its routes already work. */
  'waiting',
  /** The version in the file serves. */
  'live',
  /** The file cannot be used, and the last good version serves. */
  'stale',
  /** The file cannot be used, and nothing serves. */
  'refused',
  /** The code of the module threw an uncaught error. Its version serves until it is reopened. */
  'faulted',
  /** The file was removed, and calls in flight finish. */
  'draining',
  /** The descriptor has `enabled: false`. */
  'disabled',
  /** The version in the file failed its probation, and the previous version serves. */
  'rolled_back',
] as const;

export type ModuleState = (typeof MODULE_STATES)[number];

/** The states in which the content of the file does not serve. */
export const REJECTED_STATES: ReadonlySet<ModuleState> = new Set([
  'refused',
  'stale',
  'rolled_back',
]);

/** One descriptor for operators: its state, the reason, and the serving version. */
export interface ModuleRecord {
  readonly file: string;
  /** `null` if the descriptor could not be read. */
  readonly name: string | null;
  readonly state: ModuleState;
  readonly since: Date;
  readonly reason: string | null;
  readonly hint: string | null;
  /** The number of requests for the manifest of the pending version. */
  readonly attempts: number;
  /** The content of the file, or the last good content. */
  readonly descriptor: Descriptor | null;
  /** The serving version; `null` if there is none. */
  readonly live: LiveModule | null;
  /** The mounts of the serving version, otherwise the readable ones of the file. */
  readonly mounts: readonly Mount[];
  /** The digest of the descriptor text in use; `null` if there is none. */
  readonly fileDigest: string | null;
  /** The content of the file if it was rejected; otherwise `null`. */
  readonly rejected: RejectedDigests | null;
  /** Uncaught errors in the module's code, over all its versions. */
  readonly uncaughtErrors: number;
}

/** Compares by name, those without a name first, then by file. */
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

/** Describes the digests in wire names. */
export function describeDigests({ live, fileDigest, rejected }: ModuleRecord): ModuleDigests {
  return {
    digest: live?.manifestDigest ?? null,
    config_digest: live?.configDigest ?? null,
    file_digest: fileDigest,
    rejected_digest: rejected?.file ?? null,
    rejected_manifest_digest: rejected?.manifest ?? null,
    rejected_config_digest: rejected?.config ?? null,
  };
}
