import type { ProviderAdapter } from './adapter.js';
import type { AuthenticatorFactory } from './authenticator.js';
import type { Importer } from './importer.js';
import type { SignerFactory } from './signer.js';
import type { SurfaceFactory } from './surface.js';

/**
 * The default export of a plugin's entry. The entry is imported once, when a descriptor first names one of
 * its kinds or signers, the host starts with one of its authenticators or surfaces, or a command uses one of
 * its importers. Its import may wait for 5 s, and must end within 25 s. A new version needs a restart. The entry
 * is first imported in a disposable worker thread, so it runs twice and must only define things.
 */
export interface Plugin {
  /** Their kinds must be exactly those of `kinds` in `plugin.json`. Default: none. */
  // Each adapter validates its own config: the host only passes on what that struct accepted.
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from adapter to adapter
  readonly adapters?: readonly ProviderAdapter<any>[];
  /** Their names must be exactly those of `authenticators` in `plugin.json`. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  readonly authenticators?: readonly AuthenticatorFactory<any>[];
  /** Their names must be exactly those of `surfaces` in `plugin.json`. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  readonly surfaces?: readonly SurfaceFactory<any>[];
  /** Their names must be exactly those of `signers` in `plugin.json`. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  readonly signers?: readonly SignerFactory<any>[];
  /** Their names must be exactly those of `importers` in `plugin.json`. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  readonly importers?: readonly Importer<any>[];
}
