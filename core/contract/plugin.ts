import type { ProviderAdapter } from './adapter.js';

/**
 * The default export of a plugin's entry. The entry is imported once, when a descriptor first names one of
 * its kinds, and must end its import within 5 s; it is never imported anew, a new version needs a restart.
 *
 */
export interface Plugin {
  /** Their kinds must be those of `kinds` in `plugin.json`. */
  // Each adapter judges its own config: the host only ever passes on what that struct accepted.
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from adapter to adapter
  readonly adapters: readonly ProviderAdapter<any>[];
}
