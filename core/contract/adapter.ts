import type { Struct } from 'superstruct';
import type { Log } from './log.js';
import type { Provider } from './provider.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';

/** The version of this contract: one integer. New things are flags in {@link Supports}. */
export const CONTRACT_VERSION = 1;

const ADAPTER_BRAND = Symbol.for('modgate.adapter');

/** What the adapter's providers can do beyond `http_route`. Absent means no. */
export interface Supports {
  /** `manifest()` answers: `manifest: { from: provider }` may be used. */
  readonly manifest?: boolean;
  /** `invoke` takes `admin_list` and `admin_action`. */
  readonly admin?: boolean;
  /** `invoke` takes `configure`. */
  readonly configure?: boolean;
}

export interface OpenContext {
  readonly module: string;
  readonly scope: Scope;
  readonly log: Log;
  /** The secret behind a `secretReference()` of the config, already resolved. */
  secret(reference: string): Secret;
  /** The bytes behind a `fileReference()` of the config, already read. */
  file(reference: string): Uint8Array;
  /** The absolute path of a `fileReference()` or of any other path in the config, relative ones beside the descriptor. */
  path(reference: string): string;
  /**
   * The absolute path of a folder for this module alone, under the host's state directory: what an
   * in-process module keeps lies there and survives a restart. An adapter that needs it creates it.
   */
  readonly stateDir?: string;
}

/**
 * Code that reaches providers of one `kind`. A transport, no more: routing, actors, limits, deadlines,
 * retries and problems are the host's.
 *
 * Order of calls: `config` judges `provider.config` of the descriptor; `open` is called once a live
 * version of a module; then `manifest`, `check` and `invoke` of the provider, many at a time; then the
 * scope closes.
 */
export interface ProviderAdapter<Config = unknown> {
  readonly contract: typeof CONTRACT_VERSION;
  /** The `provider.kind` of descriptors: `^[a-z][a-z0-9-]*$`. */
  readonly kind: string;
  /** Judges `provider.config`; unknown keys must be refused (superstruct's `object` does). */
  readonly config: Struct<Config, unknown>;
  readonly supports: Supports;
  /**
   * Must not need the provider to be up. A throw refuses the descriptor with the error's message, so it
   * must name no secret.
   */
  open(config: Config, context: OpenContext): Provider | Promise<Provider>;
}

/** Stamps an adapter with the brand by which the host knows it. */
export function defineAdapter<Config>(
  adapter: Omit<ProviderAdapter<Config>, 'contract'>,
): ProviderAdapter<Config> {
  return Object.freeze({ ...adapter, contract: CONTRACT_VERSION, [ADAPTER_BRAND]: true });
}

export function isAdapter(value: unknown): value is ProviderAdapter {
  return typeof value === 'object' && value !== null && ADAPTER_BRAND in value;
}
