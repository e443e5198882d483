import type { Struct } from 'superstruct';
import { CONTRACT_VERSION } from './contract-version.js';
import type { Log } from './log.js';
import type { JsonSchema, ManifestRoute } from './manifest.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';

const IMPORTER_BRAND = Symbol.for('modgate.importer');

/** A config of an adapter, validated, with its references resolved as for a host. */
export interface ResolvedConfig<Config = unknown> {
  /** As the adapter's struct coerces it. */
  readonly config: Config;
  /** The secret of a `secretReference()` in the config. */
  secret(reference: string): Secret;
  /** The bytes of a `fileReference()` in the config. */
  file(reference: string): Uint8Array;
  /** The absolute path of a path in the config. */
  path(reference: string): string;
}

/** The second argument of {@link Importer.read}. */
export interface ImportContext {
  /** The name of the module: `acme/crm`. */
  readonly module: string;
  /** `--endpoint`; `null` without it. */
  readonly endpoint: string | null;
  /** The folder of the module's files, as paths in its descriptor have it: `./acme-crm`. */
  readonly folder: string;
  /** Closes after the import. */
  readonly scope: Scope;
  /** Aborted after 5 minutes. */
  readonly signal: AbortSignal;
  /** Lines for the terminal. */
  readonly log: Log;
  /** A path of the command line as the descriptor has to have it, which may be in another folder. */
  pathInDescriptor(path: string): string;
  /** A reference of the command line, such as `env:TOKEN` or `file:token`, as the descriptor has to have it. */
  referenceInDescriptor(reference: string): string;
  /**
   * Whether a setting, such as a variable of a process, may be a secret by its name or value. An importer then requires a
   * reference, which is as good for a harmless value.
   */
  mayBeSecret(name: string, value: string): boolean;
  /**
   * Validates and resolves a `provider.config` for the descriptor, such as one with credentials.
   * @throws Error for an invalid config, and for a reference that cannot be resolved; the command then fails with it.
   */
  resolve<Config = unknown>(kind: string, config: unknown): Promise<ResolvedConfig<Config>>;
  /** Ends the command with exit code 2: the source or an option cannot be used. */
  reject(message: string): never;
}

/** A part of the source that has no place in a manifest. */
export interface LeftOut {
  /** The operation, such as `POST /orders`, or another place in the source. */
  readonly place: string;
  /** What is left out. Default: the operation, which has then no route. */
  readonly part?: string;
  /** Why, in one line. */
  readonly reason: string;
}

/** The result of an import. The host makes it fit its rules, and lists each part that it leaves out. */
export interface ImportedModule {
  /** A version of the source; shown, not interpreted. */
  readonly version?: string;
  /** One line for people. */
  readonly summary?: string;
  /**
   * The routes. One without a capability gets `<module>.<first tag>.read` if it is a GET or `operation.reads` is true,
   * otherwise `<module>.<first tag>.write`. Schemas of drafts before 2020-12 are allowed.
   */
  readonly routes: readonly ManifestRoute[];
  /** Schemas by name, to which the routes refer by `manifest:schemas/<name>`. Default none. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** The provider in the descriptor of a first import. The config must be valid for the kind. */
  readonly provider: { readonly kind: string; readonly config: object };
  /**
   * The members of `provider.config` that a later import replaces where they differ; others belong to operators. A list
   * that has all entries of the new one does not differ. Default none.
   */
  readonly replaces?: readonly string[];
  /** Other members of the descriptor of a first import, such as `limits`. Default none. */
  readonly descriptor?: Readonly<Record<string, unknown>>;
  /** At most 16 files in the folder of the module, by name, each at most 4 MiB. Default none. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
  /** Parts of the source that have no place in a manifest. Default none. */
  readonly leftOut?: readonly LeftOut[];
  /** Lines for whoever imports. Default none. */
  readonly notes?: readonly string[];
}

/**
 * Makes a module of what a source describes, for `modgate import NAME`. `importers` of `plugin.json` has what the command
 * shows before any code runs: the name, what the source may be, and the options. The command compares with an earlier
 * import, writes the files, and decides on exit codes.
 */
export interface Importer<Options = unknown> {
  /** Set by {@link defineImporter}. */
  readonly contract: typeof CONTRACT_VERSION;
  /** The name in the command and in `importers` of `plugin.json`: `^[a-z][a-z0-9-]*$`. */
  readonly name: string;
  /**
   * Validates the options that were given, by name (`{ 'list-all': true, ca: 'ca.pem' }`), and must reject unknown keys.
   * Runs with coercion.
   */
  readonly options: Struct<Options, unknown>;
  /**
   * Reads the source: the words after the name, also those after `--`. Writes nothing.
   * @throws Error with a message for people: the command fails with it, escaped, and exit code 1.
   */
  read(
    source: readonly string[],
    options: Options,
    context: ImportContext,
  ): ImportedModule | Promise<ImportedModule>;
}

/** Marks an object as an importer and freezes it. */
export function defineImporter<Options>(
  importer: Omit<Importer<Options>, 'contract'>,
): Importer<Options> {
  return Object.freeze({ ...importer, contract: CONTRACT_VERSION, [IMPORTER_BRAND]: true });
}

/** Checks the mark, not the class: a plugin may have its own copy of the contract. */
export function isImporter(value: unknown): value is Importer {
  return typeof value === 'object' && value !== null && IMPORTER_BRAND in value;
}
