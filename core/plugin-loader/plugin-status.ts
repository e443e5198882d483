import type { PluginStage } from './plugin-error.js';
import type { PluginOrigin } from './plugin-manifest.js';

/**
 * - `known`: its `plugin.json` is valid, none of its code has run
 * - `loaded`: imported
 * - `faulted`: imported, then an error was not caught that belongs to no module
 * - `refused`: cannot be used; see `stage`, `reason` and `hint`
 */
export type PluginState = 'known' | 'loaded' | 'faulted' | 'refused';

/** A plugin for operators. */
export interface PluginStatus {
  readonly name: string;
  readonly version: string | null;
  readonly origin: PluginOrigin;
  readonly folder: string;
  readonly kinds: readonly string[];
  readonly authenticators: readonly string[];
  readonly surfaces: readonly string[];
  readonly signers: readonly string[];
  readonly state: PluginState;
  /** The step at which it was rejected. */
  readonly stage: PluginStage | null;
  /**
   * - `off`: by policy, or for a shipped plugin
   * - `unchecked`: not used yet
   * - `verified`: its files match its digests
   * - `unverified`: there are no digests to compare with
   * - `failed`: its files do not match its digests
   */
  readonly integrity: 'off' | 'unchecked' | 'verified' | 'unverified' | 'failed';
  readonly reason: string | null;
  readonly hint: string | null;
}
