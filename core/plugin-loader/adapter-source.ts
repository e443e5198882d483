import type { ProviderAdapter, SignerFactory } from '../contract/index.js';

/** A source of adapters. Their kinds are known before their code is imported. */
export interface AdapterSource {
  kinds(): readonly string[];
  /**
   * Imports on first use.
   * @throws Error that names plugin, stage and hint when the adapter cannot be loaded.
   */
  adapter(kind: string): Promise<ProviderAdapter>;
  /** Whether the adapter of a kind ships with the host, and is trusted like it. */
  isShipped(kind: string): boolean;
  signers(): readonly string[];
  /**
   * Imports on first use.
   * @throws Error that names plugin, stage and hint when the signer cannot be loaded.
   */
  signer(name: string): Promise<SignerFactory>;
}
