import type { ProviderAdapter } from '../contract/index.js';

/** Where adapters come from: their kinds are known before any of their code is imported. */
export interface AdapterSource {
  kinds(): readonly string[];
  /**
   * Imports on first use.
   * @throws an Error that names plugin, stage and hint when the adapter cannot be loaded.
   */
  adapter(kind: string): Promise<ProviderAdapter>;
}
