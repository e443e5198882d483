import { importedModule } from '../../contract/import-rules.js';
import type {
  ImportContext,
  ImportedModule,
  Log,
  ResolvedConfig,
  Secret,
} from '../../contract/index.js';
import { describePath, type Violation } from '../../document/diagnostic.js';
import { resolveReferences } from '../../document/references.js';
import { validateStruct } from '../../document/validate.js';
import { ConfigError } from '../../errors.js';
import { ModuleScope } from '../../isolation/scope.js';
import { withTimeout } from '../../lib/promises.js';
import { joinMasks, MASK, type Mask, maskUrlPasswords } from '../../lib/secrets/mask-secrets.js';
import { mayBeSecret } from '../../lib/secrets/sensitive-names.js';
import { toError } from '../../lib/to-error.js';
import { withMask } from '../../log/logger.js';
import { validateForAdapter } from '../../manifest/adapter-operations.js';
import { upgradeManifest } from '../../manifest/upgrade-manifest.js';
import type { PluginRegistry } from '../../plugin-loader/plugin-registry.js';
import { createMask } from '../../provider/mask-failure.js';
import { CommandError } from '../command-error.js';
import type { JsonObject } from '../json-value.js';
import { addCapability, createCapabilityNames } from './capability-names.js';
import type { Conversion } from './conversion.js';
import { type DraftManifest, type DraftRoute, OPERATION_PLACE } from './draft-manifest.js';
import { finishManifest } from './finish-manifest.js';
import type { ImportFiles } from './import-files.js';
import { UnmappedParts } from './unmapped.js';

const TIMEOUT_MS = 300_000;

export interface PluginImport {
  readonly name: string;
  readonly source: readonly string[];
  /** The options of the importer that were given, by name. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly module: string;
  readonly endpoint: string | null;
}

interface Environment {
  readonly plugins: PluginRegistry;
  readonly files: ImportFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/**
 * Runs an importer of a plugin, and makes what it returns follow the rules of the host.
 * @throws ConfigError for wrong usage, CommandError for any other failure.
 */
export async function importWithPlugin(
  request: PluginImport,
  environment: Environment,
): Promise<Conversion> {
  const importer = await environment.plugins.importer(request.name);
  const { violations, value } = validateStruct(request.options, importer.options);
  const [violation] = violations;
  if (violation !== undefined) throw new ConfigError(describeOption(violation));
  // A source may repeat the credentials with which it was read.
  const secrets: Secret[] = [];
  const mask = joinMasks((text, isCut) => createMask(secrets)(text, isCut), maskSource(request));
  const log = withMask(environment.log, mask);
  const scope = new ModuleScope(log);
  try {
    const context = createContext(request, { ...environment, log, secrets }, scope);
    const reading = (async () => importer.read(request.source, value, context))();
    const module = await withTimeout(reading, TIMEOUT_MS);
    const { notes, unmapped, ...conversion } = await convert(module, request, environment);
    return {
      ...conversion,
      notes: notes.map((note) => mask(note)),
      unmapped: unmapped.map(({ place, part, reason }) => {
        return { place: mask(place), part: mask(part), reason: mask(reason) };
      }),
    };
  } catch (error) {
    throw explainError(error, request, mask);
  } finally {
    await scope.close();
  }
}

function describeOption({ path, message }: Violation): string {
  return message.replace(describePath(path), `--${String(path[0] ?? 'option')}`);
}

/** Errors of importers have messages for people, which need not name the source. */
function explainError(error: unknown, { name, source }: PluginImport, mask: Mask): Error {
  if (error instanceof ConfigError) return new ConfigError(mask(error.message));
  if (error instanceof CommandError) return error;
  const subject = `the import of ${name} from ${nameSource(source)}`;
  return new CommandError(mask(`${subject} failed: ${toError(error).message}`));
}

/** Importers name their source as it is. */
function maskSource({ source }: PluginImport): Mask {
  const [word = ''] = source;
  const named = nameSource(source);
  return (text) => maskUrlPasswords(word === '' ? text : text.replaceAll(word, named));
}

/** A query, a fragment, or parameters of a path. */
const QUERY = /[?#;].*/s;
/** Up to the `@` behind a user or a password, also encoded. */
const TO_HOST = /^.*(?:@|%(?:25)*40)/is;

/** The file, address or program, without what may be credentials; `[redacted]` where their end is not known. */
function nameSource([word = '']: PluginImport['source']): string {
  const [query = ''] = QUERY.exec(word) ?? [];
  const named = word.slice(0, word.length - query.length).replace(TO_HOST, '');
  const isUnclear = TO_HOST.test(query) || (named.includes('://') && !URL.canParse(named));
  return isUnclear || named === '' ? MASK : named;
}

function createContext(
  { module, endpoint }: PluginImport,
  { plugins, files, env, log, secrets }: Environment & { readonly secrets: Secret[] },
  scope: ModuleScope,
): ImportContext {
  return {
    module,
    endpoint,
    folder: files.folder,
    scope,
    signal: scope.signal,
    log,
    pathInDescriptor: (path) => files.pathInDescriptor(path),
    referenceInDescriptor: (reference) => files.referenceInDescriptor(reference),
    resolve: async <Config>(kind: string, written: unknown) => {
      const { config: struct } = await plugins.adapter(kind);
      const file = 'the descriptor';
      const source = { file, locate: () => null, prefix: ['provider', 'config'] };
      const { violations, value: config } = validateStruct(written, struct, source.prefix);
      const [violation] = violations;
      if (violation !== undefined) throw new Error(violation.message);
      const baseDir = files.resolve('.');
      const references = await resolveReferences({ struct, config, baseDir, env, source });
      secrets.push(...references.secrets);
      const { secret, file: read, path } = references;
      return { config, secret, file: read, path } as ResolvedConfig<Config>;
    },
    mayBeSecret,
    reject: (message) => {
      throw new ConfigError(message);
    },
  };
}

async function convert(
  module: ImportedModule,
  { module: name }: PluginImport,
  { plugins, files }: Environment,
): Promise<Conversion> {
  const [wrong] = validateStruct(module, importedModule).violations;
  if (wrong !== undefined) throw new Error(`it returned an invalid module: ${wrong.message}`);
  const { provider, leftOut = [], version, summary, replaces = [], notes = [] } = module;
  const { kind } = provider;
  const unmapped = new UnmappedParts();
  for (const { place, part, reason } of leftOut) {
    if (part === undefined) unmapped.addOperation(place, reason);
    else unmapped.add(place, part, reason);
  }
  const nameCapability = createCapabilityNames(name);
  const draft: DraftManifest = {
    protocol: 'modgate.manifest.v1',
    module_id: name,
    ...(version !== undefined && { version }),
    ...(summary !== undefined && { summary }),
    capabilities: [],
    // Copied, since parts that the rules of the host reject are removed.
    http_routes: structuredClone(module.routes).map((route) => {
      const draft = { ...route, [OPERATION_PLACE]: `${route.method} ${route.path}` } as DraftRoute;
      return draft.capability === undefined ? addCapability(draft, nameCapability) : draft;
    }),
    schemas: structuredClone(module.schemas ?? {}) as DraftManifest['schemas'],
  };
  const manifest = finishManifest(upgradeManifest(draft), unmapped, [kind]);
  const adapter = await plugins.adapter(kind);
  const [violation] = [
    ...validateForAdapter(manifest as never, adapter),
    ...validateStruct(provider.config, adapter.config, ['provider', 'config']).violations,
  ];
  if (violation !== undefined)
    throw new Error(`it returned an invalid module: ${violation.message}`);
  return {
    manifest,
    descriptor: files.formatDescriptor({ provider, ...module.descriptor }),
    config: provider.config as JsonObject,
    replaces,
    files: module.files ?? {},
    unmapped: unmapped.list(),
    notes,
  };
}
