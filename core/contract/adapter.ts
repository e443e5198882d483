import type { Struct } from 'superstruct';
import type { CallerTokens } from './caller-tokens.js';
import type { ConfigDescription } from './config-description.js';
import { CONTRACT_VERSION } from './contract-version.js';
import type { Log } from './log.js';
import type { Manifest } from './manifest.js';
import type { Provider, ProviderRoute } from './provider.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';
import type { Signer } from './signer.js';

const ADAPTER_BRAND = Symbol.for('modgate.adapter');

/**
 * The features of the adapter's providers beyond `http_route`. The host does not use absent
 * features.
 */
export interface Supports {
  /** `manifest()` works, so a descriptor may use `manifest: { from: provider }`. Default false. */
  readonly manifest?: boolean;
  /** `invoke` accepts `admin_list` and `admin_action`. Default false. */
  readonly admin?: boolean;
  /** `invoke` accepts `configure`. Default false: the configuration is then not delivered. */
  readonly configure?: boolean;
  /**
   * Each process of the host has its own providers: code inside it, or children that it started. With
   * `--workers` each process then configures its own; otherwise one worker configures the provider. Default
   * false.
   */
  readonly perProcess?: boolean;
  /**
   * `invoke` sends {@link HttpRouteOperation.bodyStream} and HEAD, and returns a response that is longer than
   * {@link Invocation.holdBytes} as a stream. Default false: the host then rejects routes of bytes
   * and of events.
   */
  readonly streams?: boolean;
  /**
   * `invoke` opens WebSockets: it sends {@link HttpRouteOperation.upgrade}, and returns {@link Outcome.connection} with
   * a 101. Default false: the host then rejects routes that are WebSockets.
   */
  readonly upgrade?: boolean;
  /**
   * Routes that transfer JSON, and have no parameters in path or query, are tools: the body is the arguments, and each
   * response with status 200 a {@link ToolResult}. Surfaces for agents offer such a route with the title (`summary`),
   * description and schemas of the manifest, and pass on arguments and result as they are. Its `output_schema` describes
   * the whole result; agents see that of `structuredContent` where the host enforces it. Default false.
   */
  readonly toolResults?: boolean;
  /**
   * Runs no code of others, and nothing that it begins can fail without its call. A host trusts the plugins that it
   * ships in this, and then does not track to which module an uncaught error belongs, which saves a tenth of the CPU
   * time of a call on Node.js 20. Default false; without effect for other plugins.
   */
  readonly contained?: boolean;
}

/** A counter of an adapter in the metrics of the host. */
export interface AdapterCounter {
  /**
   * Adds to the counter.
   * @param count at least 0; default 1
   * @throws RangeError for any other number.
   */
  add(count?: number): void;
}

/** The second argument of `open`. Belongs to one opened provider; may be kept as long as its scope. */
export interface OpenContext {
  /** The name in the descriptor: `crm`, `acme/crm`. */
  readonly module: string;
  /** Closes the resources of the provider. */
  readonly scope: Scope;
  /** Writes lines that name the module. Texts of fields that repeat a secret of the descriptor are masked. */
  readonly log: Log;
  /**
   * The secret of a `secretReference()` in the config, resolved before `open`.
   * @throws Error for a text that is not such a reference of this config.
   */
  secret(reference: string): Secret;
  /**
   * The bytes of a `fileReference()` in the config, at most 4 MiB, read before `open`.
   * @throws Error for a text that is not such a reference of this config.
   */
  file(reference: string): Uint8Array;
  /**
   * The absolute path of a `fileReference()` or of any other path in the config; a relative path starts at
   * the folder of the descriptor. Does not read the file.
   */
  path(reference: string): string;
  /**
   * The content of a `documentReference()` in the config. Until the scope closes, `onChange` is called with each
   * later content that the struct accepts; any other is logged, and the last good one stays. Call it at most once
   * for each reference.
   * @throws Error for a text that is not such a reference of this config.
   */
  follow<T>(reference: string, onChange: (content: T) => void): Promise<T>;
  /**
   * The absolute path of a folder for this module alone, under the host's state folder. Its content
   * survives a restart. An adapter that needs the folder creates it. Absent on a host without state.
   */
  readonly stateDir?: string;
  /**
   * Opens the metric `modgate_<kind>_<name>` with the label `module` and no other, where `_` replaces each `-` of the
   * kind. Its value is the sum over all processes of the host, and goes on after a reload. The same for each call with
   * one name; a metric of the host with this name hides it.
   * @param name `^[a-z][a-z0-9_]*_total$`, at most 64 characters
   * @param help what it counts, in one line of at most 200 characters
   * @throws Error for another name or help, and for more than 16 counters of a module.
   */
  counter(name: string, help: string): AdapterCounter;
  /**
   * Opens the signer of {@link ConfigDescription.signer}; its `sign` throws nothing but a ProviderFailure in phase
   * `preparing`. Absent for a config without a signer.
   * @throws Error when the signer cannot be opened.
   */
  openSigner?(): Promise<Signer>;
  /**
   * The tokens of callers from the issuer of {@link ConfigDescription.exchange}. Absent for a config
   * without an exchange: no other adapter can get the token of a caller.
   */
  readonly callerTokens?: CallerTokens;
}

/** The second argument of `tryCredentials`: that of `open`, without what belongs to an opened provider. */
export type CredentialContext = Pick<
  OpenContext,
  'module' | 'log' | 'secret' | 'file' | 'path' | 'callerTokens'
>;

/** What a descriptor asks for that its adapter may not have. */
export interface CheckedDescriptor<Config = unknown> {
  /** As `config` of the adapter accepts it. */
  readonly config: Config;
  /** The names as written. */
  readonly forward_headers: readonly string[];
  /** `raw`: callers get the provider's own status and headers. */
  readonly responses: { readonly mode: 'envelope' | 'raw' };
}

/** Something in a descriptor or manifest that an adapter cannot carry; the file is rejected with it. */
export interface ModuleProblem {
  /** The members and indexes that lead to it in the document: `['http_routes', 3, 'operation', 'stream']`. */
  readonly path: readonly (string | number)[];
  /**
   * Continues the name of the place, without its value: `must be ndjson: kind acme-line has no other streams`. One line
   * of at most 200 characters.
   */
  readonly message: string;
  /** A remedy that begins with a verb: `remove it`. As long as a message. Default: none. */
  readonly hint?: string;
}

/**
 * Code that reaches providers of one `kind`. It is only a transport: routing, actors, limits, deadlines,
 * retries and problems belong to the host.
 *
 * Order of calls: `config` validates `provider.config` of the descriptor, also in `modgate check`, which
 * opens nothing. `open` is called once for each version of a module that becomes live, so two versions of
 * one module, and any number of modules, have open providers at the same time. Then `manifest`, `check` and
 * `invoke` of that provider are called, many at the same time. Then its scope closes. The adapter itself
 * lives as long as the host.
 *
 * Nothing here may block the event loop: the host and all other modules share it.
 */
export interface ProviderAdapter<Config = unknown> {
  /** {@link CONTRACT_VERSION}, set by {@link defineAdapter}. */
  readonly contract: typeof CONTRACT_VERSION;
  /** The `provider.kind` of descriptors: `^[a-z][a-z0-9-]*$`. `kinds` of `plugin.json` must list it. */
  readonly kind: string;
  /**
   * Validates `provider.config` and must reject unknown keys, as superstruct's `object` does. Runs with
   * coercion. Its messages are not shown: the host writes its own from path and type, without the value.
   */
  readonly config: Struct<Config, unknown>;
  /**
   * Validates `operation.<kind>` of each route of a manifest, such as the procedure that it calls, and must reject
   * unknown keys. Runs with coercion; routes without the member are valid only if it accepts `undefined`, as
   * superstruct's `optional` does. The result is {@link HttpRouteOperation.options}. With it, the kind must not be the
   * name of another member of `operation`. Its messages are not shown, like those of `config`.
   *
   * Default: no route may have the member.
   */
  // biome-ignore lint/suspicious/noExplicitAny: what a route says to an adapter differs from adapter to adapter
  readonly operation?: Struct<any, unknown>;
  /**
   * Finds what a valid descriptor asks for and the adapter does not have, such as raw responses. Called by
   * `modgate check`, when a module is loaded and at each reload; opens nothing, reads no file, and must not block. Each
   * problem is a diagnostic with its place, of which the first 100 are used.
   *
   * Default: it has all that descriptors can ask for.
   */
  checkDescriptor?(descriptor: CheckedDescriptor<Config>): readonly ModuleProblem[];
  /**
   * The same for a valid manifest, which may come later than the descriptor, and be checked without one: routes that
   * the kind cannot carry, entities, actions and configuration.
   *
   * Default: it carries all that its `supports` allow.
   * @param routes those of the manifest in its order, with the results of `operation`
   */
  checkManifest?(manifest: Manifest, routes: readonly ProviderRoute[]): readonly ModuleProblem[];
  /**
   * Finds routes that no call can use, as far as the config and its files say it: a host serves the others. Called by
   * `modgate check` with a local manifest, and must end within 5 s. Each problem is a warning with its place in the
   * manifest.
   *
   * Default: none.
   * @throws Error for a config with which `open` throws it.
   */
  checkRoutes?(
    config: Config,
    routes: readonly ProviderRoute[],
    context: Pick<OpenContext, 'file' | 'path'>,
  ): readonly ModuleProblem[] | Promise<readonly ModuleProblem[]>;
  /** The features of its providers beyond routes. The same for every config. */
  readonly supports: Supports;
  /**
   * Describes what a config that `config` has accepted means for the host, also that of a provider beside the live
   * one. Called often; opens nothing, reads no file, and returns equal values for equal configs. It describes every use
   * of callers: an adapter that acts for a caller must describe an exchange.
   *
   * Default: unknown, so the host assumes the worst. No response is shared between callers, each descriptor of the kind
   * needs the right to publish code in a release, and the provider gets neither a signer nor tokens of callers.
   * @throws Error for a config that cannot work: the descriptor is rejected with the error's message.
   */
  describeConfig?(config: Config): ConfigDescription;
  /**
   * Opens a provider. Must not require that the other side is running, and must end within 30 s. Register
   * each opened resource with `context.scope` at once, since the scope also closes if `open` fails.
   * @throws Error for a config that cannot work: the descriptor is rejected with the error's message, which
   * must not contain a secret.
   */
  open(config: Config, context: OpenContext): Provider | Promise<Provider>;
  /**
   * Requests the credentials that the first call would need, for `modgate serve --check --connect`;
   * opens nothing and calls no provider. Absent if the adapter requests no credentials.
   * @returns the reason of a failure, without a secret; `null` after a success, and for a config
   * that needs no credentials
   */
  tryCredentials?(config: Config, context: CredentialContext): Promise<string | null>;
}

/** Marks an object as an adapter and freezes it. Validates nothing. */
export function defineAdapter<Config>(
  adapter: Omit<ProviderAdapter<Config>, 'contract'>,
): ProviderAdapter<Config> {
  return Object.freeze({ ...adapter, contract: CONTRACT_VERSION, [ADAPTER_BRAND]: true });
}

/** Checks the mark, not the class: a plugin may have its own copy of the contract. */
export function isAdapter(value: unknown): value is ProviderAdapter {
  return typeof value === 'object' && value !== null && ADAPTER_BRAND in value;
}
