import { pathToFileURL } from 'node:url';
import { explainImportError } from '../contract/import-error.js';
import { importInTime } from '../contract/import-timeout.js';
import {
  type AuthenticatorFactory,
  CONTRACT_VERSION,
  type Importer,
  isAdapter,
  isAuthenticatorFactory,
  isImporter,
  isSignerFactory,
  isSurfaceFactory,
  type ProviderAdapter,
  type SignerFactory,
  type SurfaceFactory,
} from '../contract/index.js';
import { toError } from '../lib/to-error.js';
import { OPERATION_MEMBERS } from '../manifest/manifest-struct.js';
import {
  ADAPTER_MEMBERS,
  AUTHENTICATOR_MEMBERS,
  findMemberProblem,
  IMPORTER_MEMBERS,
  type MemberRules,
  SIGNER_MEMBERS,
  SURFACE_MEMBERS,
} from './export-members.js';
import { PluginError } from './plugin-error.js';
import type { PluginManifest } from './plugin-manifest.js';

/** The data for the import of a plugin; it can be sent to a worker thread. */
export type ImportedPlugin = Pick<
  PluginManifest,
  | 'name'
  | 'origin'
  | 'entryPath'
  | 'kinds'
  | 'authenticators'
  | 'surfaces'
  | 'signers'
  | 'importers'
>;

export const REPORT_HINT = "report it to the plugin's author";

export interface PluginExports {
  readonly adapters: ReadonlyMap<string, ProviderAdapter>;
  readonly authenticators: ReadonlyMap<string, AuthenticatorFactory>;
  readonly surfaces: ReadonlyMap<string, SurfaceFactory>;
  readonly signers: ReadonlyMap<string, SignerFactory>;
  readonly importers: ReadonlyMap<string, Importer>;
}

/**
 * Imports the code of a plugin once, because Node keeps imported modules. The import of a shipped
 * plugin always ends, so that it may take longer on a busy machine.
 * @throws PluginError at the stages `import`, `export`, `contract` and `kinds`.
 */
export async function importPlugin(plugin: ImportedPlugin): Promise<PluginExports> {
  const exported = readExports(plugin, await importEntry(plugin));
  const adapters = validateExports(plugin, exported.adapters, ADAPTERS);
  for (const adapter of adapters.values()) assertOperation(plugin, adapter);
  const authenticators = validateExports(plugin, exported.authenticators, AUTHENTICATORS);
  const surfaces = validateExports(plugin, exported.surfaces, SURFACES);
  const signers = validateExports(plugin, exported.signers, SIGNERS);
  const importers = validateExports(plugin, exported.importers, IMPORTERS);
  return { adapters, authenticators, surfaces, signers, importers };
}

/** A kind that defines a member of operations must not have the name of one that exists. */
function assertOperation(plugin: ImportedPlugin, { kind, operation }: ProviderAdapter): void {
  if (operation === undefined || !OPERATION_MEMBERS.has(kind)) return;
  const problem = `exports an adapter with 'operation' of the kind '${kind}', which is the name of another member of operations`;
  throw new PluginError(plugin.name, 'kinds', problem, 'choose another kind');
}

export function createImportTimeout(name: string, limitMs: number): PluginError {
  const problem = `did not finish its import within ${limitMs} ms`;
  const hint = "move what its top level waits for into 'open'";
  return new PluginError(name, 'import', problem, hint);
}

async function importEntry(plugin: ImportedPlugin): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(plugin.entryPath);
  try {
    const imported =
      plugin.origin === 'shipped'
        ? await import(href)
        : await importInTime(href, (limitMs) => createImportTimeout(plugin.name, limitMs));
    return imported as Record<string, unknown>;
  } catch (error) {
    throw error instanceof PluginError ? error : await createImportError(plugin, error);
  }
}

async function createImportError(plugin: ImportedPlugin, cause: unknown): Promise<PluginError> {
  const isMissing = (cause as NodeJS.ErrnoException | null)?.code === 'ERR_MODULE_NOT_FOUND';
  const hint = isMissing ? 'install its dependencies in its folder' : REPORT_HINT;
  const reason = await explainImportError(toError(cause).message, cause, plugin.entryPath);
  const problem = `cannot be imported: ${reason}`;
  return new PluginError(plugin.name, 'import', problem, hint, { cause });
}

interface RawExports {
  readonly adapters: readonly unknown[];
  readonly authenticators: readonly unknown[];
  readonly surfaces: readonly unknown[];
  readonly signers: readonly unknown[];
  readonly importers: readonly unknown[];
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
    readonly surfaces?: unknown;
    readonly signers?: unknown;
    readonly importers?: unknown;
  };
  return {
    adapters: readList(plugin, value, members.adapters, plugin.kinds, 'adapters'),
    authenticators: readList(
      plugin,
      value,
      members.authenticators,
      plugin.authenticators,
      'authenticators',
    ),
    surfaces: readList(plugin, value, members.surfaces, plugin.surfaces, 'surfaces'),
    signers: readList(plugin, value, members.signers, plugin.signers, 'signers'),
    importers: readList(plugin, value, members.importers, plugin.importers, 'importers'),
  };
}

const EXPORT_HINTS = {
  adapters: 'adapters: [defineAdapter({ … })]',
  authenticators: 'authenticators: [defineAuthenticator({ … })]',
  surfaces: 'surfaces: [defineSurface({ … })]',
  signers: 'signers: [defineSigner({ … })]',
  importers: 'importers: [defineImporter({ … })]',
} as const;

function readList(
  plugin: ImportedPlugin,
  exported: unknown,
  list: unknown,
  declared: readonly string[],
  name: keyof typeof EXPORT_HINTS,
): readonly unknown[] {
  if (Array.isArray(list)) return list;
  if (list === undefined && declared.length === 0) return [];
  // Compilers of ES modules write `exports.default`.
  const isTranspiled = Object(exported).default !== undefined;
  const problem = `has a default export without '${name}'${isTranspiled ? ': it is CommonJS' : ''}`;
  if (isTranspiled) {
    throw new PluginError(plugin.name, 'export', problem, 'compile it to an ES module (.mjs)');
  }
  const hint = `export default { ${EXPORT_HINTS[name]} }`;
  throw new PluginError(plugin.name, 'export', problem, hint);
}

/** The validation of exports of one type, and their name in messages. */
interface ExportRules<T> {
  readonly article: string;
  readonly noun: string;
  readonly brand: string;
  readonly isBranded: (value: unknown) => value is T;
  readonly identify: (value: T) => unknown;
  readonly idWord: string;
  readonly declared: (plugin: ImportedPlugin) => readonly string[];
  readonly members: MemberRules;
}

const ADAPTERS: ExportRules<ProviderAdapter> = {
  article: 'an adapter',
  noun: 'adapter',
  brand: 'defineAdapter',
  isBranded: isAdapter,
  identify: ({ kind }) => kind,
  idWord: 'kind',
  declared: ({ kinds }) => kinds,
  members: ADAPTER_MEMBERS,
};

const AUTHENTICATORS: ExportRules<AuthenticatorFactory> = {
  article: 'an authenticator',
  noun: 'authenticator',
  brand: 'defineAuthenticator',
  isBranded: isAuthenticatorFactory,
  identify: ({ name }) => name,
  idWord: 'name',
  declared: ({ authenticators }) => authenticators,
  members: AUTHENTICATOR_MEMBERS,
};

const SURFACES: ExportRules<SurfaceFactory> = {
  article: 'a surface',
  noun: 'surface',
  brand: 'defineSurface',
  isBranded: isSurfaceFactory,
  identify: ({ name }) => name,
  idWord: 'name',
  declared: ({ surfaces }) => surfaces,
  members: SURFACE_MEMBERS,
};

const SIGNERS: ExportRules<SignerFactory> = {
  article: 'a signer',
  noun: 'signer',
  brand: 'defineSigner',
  isBranded: isSignerFactory,
  identify: ({ name }) => name,
  idWord: 'name',
  declared: ({ signers }) => signers,
  members: SIGNER_MEMBERS,
};

const IMPORTERS: ExportRules<Importer> = {
  article: 'an importer',
  noun: 'importer',
  brand: 'defineImporter',
  isBranded: isImporter,
  identify: ({ name }) => name,
  idWord: 'name',
  declared: ({ importers }) => importers,
  members: IMPORTER_MEMBERS,
};

type Exported = ProviderAdapter | AuthenticatorFactory | SurfaceFactory | SignerFactory | Importer;

function validateExports<T extends Exported>(
  plugin: ImportedPlugin,
  exported: readonly unknown[],
  rules: ExportRules<T>,
): ReadonlyMap<string, T> {
  const { article, noun, idWord } = rules;
  const declared = rules.declared(plugin);
  const exportsByName = new Map<string, T>();
  for (const value of exported) {
    const id = validateExport(plugin, value, rules);
    if (exportsByName.has(id)) {
      const problem = `exports two ${noun}s of the ${idWord} '${id}'`;
      throw new PluginError(plugin.name, 'kinds', problem, 'export one of them');
    }
    exportsByName.set(id, value as T);
  }
  const missing = declared.filter((id) => !exportsByName.has(id));
  if (missing.length > 0) {
    const problem = `has no ${noun} for the ${idWord} '${missing.join("', '")}' of its plugin.json`;
    const ids = [...exportsByName.keys()];
    const hint = ids.length === 0 ? 'it exports none' : `it exports ${ids.join(', ')}`;
    throw new PluginError(plugin.name, 'kinds', problem, hint);
  }
  const extra = [...exportsByName.keys()].filter((id) => !declared.includes(id));
  if (extra.length > 0) {
    const problem = `exports ${article} of the ${idWord} '${extra.join("', '")}', which its plugin.json does not name`;
    throw new PluginError(plugin.name, 'kinds', problem, 'add it to its plugin.json');
  }
  return exportsByName;
}

function validateExport<T extends Exported>(
  plugin: ImportedPlugin,
  value: unknown,
  { article, noun, brand, isBranded, identify, members }: ExportRules<T>,
): string {
  if (!isBranded(value)) {
    const problem = `exports ${article} that is not branded`;
    throw new PluginError(plugin.name, 'export', problem, `create it with '${brand}'`);
  }
  if (value.contract !== CONTRACT_VERSION) {
    const problem = `exports ${article} for another contract, this host has ${CONTRACT_VERSION}`;
    const hint = "check which version of 'modgate' is installed in its folder";
    throw new PluginError(plugin.name, 'contract', problem, hint);
  }
  const id: unknown = identify(value);
  const wrong = findMemberProblem(value, members);
  if (wrong === null) return id as string;
  const subject = typeof id === 'string' && id !== '' ? `the ${noun} '${id}'` : article;
  throw new PluginError(plugin.name, 'export', `exports ${subject} ${wrong}`, REPORT_HINT);
}
