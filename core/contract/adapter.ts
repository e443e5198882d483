import type { Struct } from 'superstruct';
import type { Log } from './log.js';
import type { Provider } from './provider.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';

/**
 * The version of this contract: one integer, `contract` of `plugin.json`. A plugin for another one is
 * refused before its code runs. New things are flags in {@link Supports}, and raise nothing.
 */
export const CONTRACT_VERSION = 1;

const ADAPTER_BRAND = Symbol.for('modgate.adapter');

/** What the adapter's providers can do beyond `http_route`. Absent means no: the host then never asks. */
export interface Supports {
  /** `manifest()` answers: `manifest: { from: provider }` of a descriptor may be used. Default false. */
  readonly manifest?: boolean;
  /** `invoke` takes `admin_list` and `admin_action`. Default false. */
  readonly admin?: boolean;
  /** `invoke` takes `configure`. Default false: the configuration is then not delivered. */
  readonly configure?: boolean;
  /**
   * Each process of the host has providers of its own: code inside it, or children that it started. With
   * `--workers` each then configures its own; otherwise one worker configures the provider for all.
   */
  readonly perProcess?: boolean;
}

/** What `open` gets beside the config. Belongs to one opened provider; may be kept as long as its scope. */
export interface OpenContext {
  /** The name that the descriptor configures: `crm`, `acme/crm`. */
  readonly module: string;
  /** The one place to undo what was opened. */
  readonly scope: Scope;
  /** Writes lines that name the module. */
  readonly log: Log;
  /**
   * The secret behind a `secretReference()` of the config, resolved before `open`: reads nothing now.
   * @throws Error for a text that is no such reference of this config.
   */
  secret(reference: string): Secret;
  /**
   * The bytes behind a `fileReference()` of the config, at most 4 MiB, read before `open`: reads nothing now.
   * @throws Error for a text that is no such reference of this config.
   */
  file(reference: string): Uint8Array;
  /**
   * The absolute path of a `fileReference()` or of any other path in the config; a relative one lies
   * beside the descriptor. Reads nothing.
   */
  path(reference: string): string;
  /**
   * The absolute path of a folder for this module alone, under the host's state directory: what an
   * in-process module keeps lies there and survives a restart. An adapter that needs it creates it. Absent
   * on a host that keeps no state.
   */
  readonly stateDir?: string;
}

/**
 * Code that reaches providers of one `kind`. A transport, no more: routing, actors, limits, deadlines,
 * retries and problems are the host's.
 *
 * Order of calls: `config` judges `provider.config` of the descriptor, also in `modgate check`, where
 * nothing is opened; `open` is called once for each version of a module that goes live, so two versions of
 * one module, and any number of modules, have providers open at a time; then come `manifest`, `check` and
 * `invoke` of that provider, many at a time; then its scope closes. The adapter itself lives as long as the
 * host.
 *
 * Nothing here may block the event loop: the host and all other modules share it.
 *
 */
export interface ProviderAdapter<Config = unknown> {
  /** {@link CONTRACT_VERSION}, set by {@link defineAdapter}. */
  readonly contract: typeof CONTRACT_VERSION;
  /** The `provider.kind` of descriptors: `^[a-z][a-z0-9-]*$`. Must stand in `kinds` of `plugin.json`. */
  readonly kind: string;
  /**
   * Judges `provider.config`; unknown keys must be refused (superstruct's `object` does). Runs with coercion.
   * Its messages are not shown: the host makes its own from path and type, and prints no value.
   */
  readonly config: Struct<Config, unknown>;
  /** What its providers can do beyond routes; the same for every config. */
  readonly supports: Supports;
  /**
   * Opens a provider. Must not need the other side to be up, and must end within 5 s. What it opens is
   * registered with `context.scope` as soon as it is there, since the scope also closes when `open` fails.
   * @throws Error for a config that cannot work: refuses the descriptor with the error's message, which must
   * name no secret.
   */
  open(config: Config, context: OpenContext): Provider | Promise<Provider>;
}

/** Stamps an adapter with the brand by which the host knows it, and freezes it. Judges nothing. */
export function defineAdapter<Config>(
  adapter: Omit<ProviderAdapter<Config>, 'contract'>,
): ProviderAdapter<Config> {
  return Object.freeze({ ...adapter, contract: CONTRACT_VERSION, [ADAPTER_BRAND]: true });
}

/** Judges by brand, never by class: a plugin may carry a copy of the contract of its own. */
export function isAdapter(value: unknown): value is ProviderAdapter {
  return typeof value === 'object' && value !== null && ADAPTER_BRAND in value;
}
