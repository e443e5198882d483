import { pathToFileURL } from 'node:url';
import {
  type AuthenticatorFactory,
  CONTRACT_VERSION,
  isAdapter,
  isAuthenticatorFactory,
  type ProviderAdapter,
} from '../contract/index.js';
import { withTimeout } from '../lib/promises.js';
import { PluginError } from './plugin-error.js';
import type { PluginManifest } from './plugin-manifest.js';

/** A top-level `await` that never ends must not keep the host from serving with the other plugins. */
export const IMPORT_TIMEOUT_MS = 5_000;

/** What an import needs to know of a plugin; can be sent to a worker thread. */
export type ImportedPlugin = Pick<
  PluginManifest,
  'name' | 'entryPath' | 'kinds' | 'authenticators'
>;

export interface PluginExports {
  /** By kind. */
  readonly adapters: ReadonlyMap<string, ProviderAdapter>;
  /** By name. */
  readonly authenticators: ReadonlyMap<string, AuthenticatorFactory>;
}

/**
 * Runs the code of a plugin, for the first time and the last: Node keeps what it has imported.
 * @throws PluginError at the stages `import`, `export`, `contract` and `kinds`.
 */
export async function importPlugin(plugin: ImportedPlugin): Promise<PluginExports> {
  const exported = readExports(plugin, await importInTime(plugin));
  const adapters = validateExports(plugin, exported.adapters, ADAPTERS);
  const authenticators = validateExports(plugin, exported.authenticators, AUTHENTICATORS);
  return { adapters, authenticators };
}

export function createImportTimeout(name: string): PluginError {
  const trouble = `did not end its import within ${IMPORT_TIMEOUT_MS} ms`;
  const hint = "does it wait for something at its top level? that belongs into 'open'";
  return new PluginError(name, 'import', trouble, hint);
}

async function importInTime(plugin: ImportedPlugin): Promise<Record<string, unknown>> {
  const createLateError = () => createImportTimeout(plugin.name);
  try {
    const imported: Promise<Record<string, unknown>> = import(pathToFileURL(plugin.entryPath).href);
    return await withTimeout(imported, IMPORT_TIMEOUT_MS, createLateError);
  } catch (error) {
    throw error instanceof PluginError ? error : explainThrow(plugin, error);
  }
}

function explainThrow(plugin: ImportedPlugin, cause: unknown): PluginError {
  const message = cause instanceof Error ? cause.message : 'it threw something that is no error';
  const isMissing = (cause as NodeJS.ErrnoException | null)?.code === 'ERR_MODULE_NOT_FOUND';
  const hint = isMissing ? 'install its dependencies in its folder' : 'its author has to mend it';
  const trouble = `cannot be imported: ${message}`;
  return new PluginError(plugin.name, 'import', trouble, hint, { cause });
}

interface RawExports {
  readonly adapters: readonly unknown[];
  readonly authenticators: readonly unknown[];
}

function readExports(plugin: ImportedPlugin, exported: Record<string, unknown>): RawExports {
  const value = exported['default'];
  if (value === undefined) {
    const hint = 'export default { adapters: [defineAdapter({ … })] }';
    throw new PluginError(plugin.name, 'export', 'has no default export', hint);
  }
  const members = (value ?? {}) as {
    readonly adapters?: unknown;
    readonly authenticators?: unknown;
  };
  return {
    adapters: readList(plugin, members.adapters, plugin.kinds, 'adapters'),
    authenticators: readList(
      plugin,
      members.authenticators,
      plugin.authenticators,
      'authenticators',
    ),
  };
}

function readList(
  plugin: ImportedPlugin,
  list: unknown,
  declared: readonly string[],
  name: 'adapters' | 'authenticators',
): readonly unknown[] {
  if (Array.isArray(list)) return list;
  if (list === undefined && declared.length === 0) return [];
  const hint =
    name === 'adapters'
      ? 'adapters: [defineAdapter({ … })]'
      : 'authenticators: [defineAuthenticator({ … })]';
  const trouble = `has a default export without '${name}'`;
  throw new PluginError(plugin.name, 'export', trouble, `export default { ${hint} }`);
}

/** How one sort of exports is judged, and named in messages. */
interface ExportRules<T> {
  readonly what: string;
  readonly plural: string;
  readonly brand: string;
  readonly isBranded: (value: unknown) => value is T;
  readonly identify: (value: T) => unknown;
  readonly idWord: string;
  readonly declared: (plugin: ImportedPlugin) => readonly string[];
}

const ADAPTERS: ExportRules<ProviderAdapter> = {
  what: 'an adapter',
  plural: 'adapter',
  brand: 'defineAdapter',
  isBranded: isAdapter,
  identify: ({ kind }) => kind,
  idWord: 'kind',
  declared: ({ kinds }) => kinds,
};

const AUTHENTICATORS: ExportRules<AuthenticatorFactory> = {
  what: 'an authenticator',
  plural: 'authenticator',
  brand: 'defineAuthenticator',
  isBranded: isAuthenticatorFactory,
  identify: ({ name }) => name,
  idWord: 'name',
  declared: ({ authenticators }) => authenticators,
};

function validateExports<T extends ProviderAdapter | AuthenticatorFactory>(
  plugin: ImportedPlugin,
  exported: readonly unknown[],
  rules: ExportRules<T>,
): ReadonlyMap<string, T> {
  const { what, plural, idWord } = rules;
  const declared = rules.declared(plugin);
  const found = new Map<string, T>();
  for (const value of exported) {
    const id = validateExport(plugin, value, rules);
    if (found.has(id)) {
      const trouble = `exports two ${plural}s of the ${idWord} '${id}'`;
      throw new PluginError(plugin.name, 'kinds', trouble, 'export one of them');
    }
    found.set(id, value as T);
  }
  const missing = declared.filter((id) => !found.has(id));
  if (missing.length > 0) {
    const trouble = `has no ${plural} for the ${idWord} '${missing.join("', '")}' of its plugin.json`;
    const ids = [...found.keys()];
    const hint = ids.length === 0 ? 'it exports none' : `it exports ${ids.join(', ')}`;
    throw new PluginError(plugin.name, 'kinds', trouble, hint);
  }
  const extra = [...found.keys()].filter((id) => !declared.includes(id));
  if (extra.length > 0) {
    const trouble = `exports ${what} of the ${idWord} '${extra.join("', '")}', which its plugin.json does not name`;
    throw new PluginError(plugin.name, 'kinds', trouble, `name it in its plugin.json`);
  }
  return found;
}

function validateExport<T extends ProviderAdapter | AuthenticatorFactory>(
  plugin: ImportedPlugin,
  value: unknown,
  { what, brand, isBranded, identify, idWord }: ExportRules<T>,
): string {
  if (!isBranded(value)) {
    const trouble = `exports ${what} that is not branded`;
    throw new PluginError(plugin.name, 'export', trouble, `make it with '${brand}'`);
  }
  if (value.contract !== CONTRACT_VERSION) {
    const trouble = `exports ${what} for another contract, this host has ${CONTRACT_VERSION}`;
    const hint = "is a 'modgate' of another version installed in its folder?";
    throw new PluginError(plugin.name, 'contract', trouble, hint);
  }
  if (typeof value.open !== 'function' || typeof value.config?.validate !== 'function') {
    const trouble = `exports ${what} without 'open' or 'config'`;
    throw new PluginError(plugin.name, 'export', trouble, null);
  }
  const id = identify(value);
  if (typeof id === 'string') return id;
  throw new PluginError(plugin.name, 'export', `exports ${what} without a '${idWord}'`, null);
}
