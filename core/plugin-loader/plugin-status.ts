import type { PluginStage } from './plugin-error.js';
import type { PluginOrigin } from './plugin-manifest.js';

/**
 * - `known`: judged by its `plugin.json`, none of its code has run
 * - `loaded`: imported
 * - `faulted`: imported, and left an error uncaught that belongs to no module
 * - `refused`: cannot be used; `stage`, `reason` and `hint` say why
 */
export type PluginState = 'known' | 'loaded' | 'faulted' | 'refused';

/** A plugin as ops see it. */
export interface PluginStatus {
  readonly name: string;
  readonly version: string | null;
  readonly origin: PluginOrigin;
  readonly folder: string;
  readonly kinds: readonly string[];
  readonly authenticators: readonly string[];
  readonly state: PluginState;
  /** How far it got before it was refused. */
  readonly stage: PluginStage | null;
  /** `off` by policy or since it is shipped; `unchecked` until it is first used. */
  readonly integrity: 'off' | 'unchecked' | 'verified' | 'failed';
  readonly reason: string | null;
  readonly hint: string | null;
}
