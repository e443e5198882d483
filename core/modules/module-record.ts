import type { Descriptor } from '../descriptor/descriptor.js';
import type { LiveModule } from './live-module.js';
import type { ModuleState } from './module-states.js';

/** One descriptor as operators see it: its state, the reason, and what serves. */
export interface ModuleRecord {
  readonly file: string;
  /** `null` where the descriptor could not be read. */
  readonly name: string | null;
  readonly state: ModuleState;
  readonly since: Date;
  readonly reason: string | null;
  readonly hint: string | null;
  /** How often the host has requested the manifest of the version that is to serve. */
  readonly attempts: number;
  /** What the file says, or the last good content. */
  readonly descriptor: Descriptor | null;
  /** What serves; `null` when nothing does. */
  readonly live: LiveModule | null;
  /** Of the descriptor's text that is in force; `null` when there is none. */
  readonly fileDigest: string | null;
  /** What the file says now, when that is rejected; otherwise `null`. */
  readonly rejected: RejectedDigests | null;
  /** Uncaught errors in the module's code, over all its versions. */
  readonly uncaughtErrors: number;
}

/** Digests of a rejected version; `null` where it could not be computed. */
export interface RejectedDigests {
  /** Of the descriptor's text. */
  readonly file: string | null;
  readonly manifest: string | null;
  readonly config: string | null;
}
