import type { ProviderAdapter } from './adapter.js';

/** The default export of a plugin's entry; `kinds` of its `plugin.json` must name these adapters. */
export interface Plugin {
  // Each adapter judges its own config: the host only ever passes on what that struct accepted.
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from adapter to adapter
  readonly adapters: readonly ProviderAdapter<any>[];
}
