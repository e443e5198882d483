import { dirname, resolve } from 'node:path';
import { canonicalizeValue } from '../contract/canonical-value.js';
import type { Log, ProviderAdapter, SignerFactory } from '../contract/index.js';
import { toDescriptorPath } from '../descriptor/config-path.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { findExchangeWarnings } from '../descriptor/exchange-warnings.js';
import { readFurtherProviders } from '../descriptor/further-providers.js';
import {
  InvalidDescriptor,
  type ParsedDescriptor,
  parseDescriptor,
} from '../descriptor/parse-descriptor.js';
import type { HostFacts, PreparedProvider } from '../descriptor/section.js';
import type { Mount } from '../descriptor/sections/mount.js';
import {
  createDiagnostic,
  createInvalidFile,
  type Diagnostic,
  InvalidFile,
  type Locate,
  sortDiagnostics,
  type Violation,
} from '../document/diagnostic.js';
import { readStructuredText } from '../document/parse-document.js';
import {
  joinReferences,
  listFollowedFiles,
  listReferencedFiles,
  type MissingSecret,
  NOT_ALLOWED,
  type References,
  resolveReferences,
} from '../document/references.js';
import type { TextLimits } from '../document/text-limits.js';
import { digestText } from '../lib/hash.js';
import { findCacheWarnings } from '../manifest/cache-rules.js';
import {
  assertFitsAdapter,
  type LoadedManifest,
  loadManifest,
  type ManifestInput,
} from '../manifest/load-manifest.js';
import type { AdapterSource } from '../plugin-loader/adapter-source.js';
import type { DirectoryFile } from '../watch/directory.js';
import { findSigner } from './find-signer.js';
import { listHostUses, toReference } from './host-uses.js';
import { readModuleName, UnpreparedDescriptor } from './unprepared-descriptor.js';

export interface DescriptorContext extends HostFacts {
  /** Default: no log. */
  readonly log?: Log;
  readonly plugins: AdapterSource;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a descriptor may use a variable or a file outside of its folder. Default: any. */
  readonly allowsReference?: (reference: string) => boolean;
  /** The limits of the descriptor and of documents that its config names. Default: those of any file. */
  readonly limits?: TextLimits;
  /** Reports unresolved secrets in the result instead of as errors. Default false. */
  readonly allowsMissingSecrets?: boolean;
  /** Whether an example of the manifest that violates its schema is an error. Default false. */
  readonly checksExamples?: boolean;
}

/** A valid descriptor, with everything that is known before its provider is opened. */
export interface PreparedDescriptor {
  readonly file: string;
  readonly text: string;
  /** The folder of the descriptor. Paths in it are relative to this folder. */
  readonly baseDir: string;
  readonly descriptor: Descriptor;
  readonly locate: Locate;
  readonly adapter: ProviderAdapter;
  /** Whether uncaught errors of the adapter are attributed to the module. */
  readonly isTracked: boolean;
  /** The kinds of providers that the host has, when the descriptor was read. */
  readonly kinds: readonly string[];
  /** The signer of the config, and the references of its own config; `null` without one. */
  readonly signer: PreparedSigner | null;
  /** The references of the adapter; its lists also have those of the signer. */
  readonly references: References;
  /** The providers that sections open beside the live one. */
  readonly furtherProviders: readonly PreparedProvider[];
  /** `null` when it is requested later, from a URL or the provider. */
  readonly manifest: LoadedManifest | null;
  readonly warnings: readonly Diagnostic[];
  /** Present only if the context allows them. */
  readonly missingSecrets: readonly MissingSecret[];
  /** Every file that the descriptor names and whose change reloads the module, absolute. */
  readonly files: readonly string[];
  /** Changes with the values of the descriptor and the files that it names, not with its layout. */
  readonly inputDigest: string;
}

/** The positions of the parts of a descriptor. */
interface DescriptorPlace {
  readonly file: string;
  readonly baseDir: string;
  readonly locate: Locate;
}

/** A signer that is not open yet. */
export interface PreparedSigner {
  readonly factory: SignerFactory;
  readonly config: unknown;
  readonly references: References;
}

/**
 * Reads and validates a descriptor and the files that it names.
 * @param manifest used instead of the one that the descriptor names
 * @throws UnpreparedDescriptor for every error.
 */
export async function prepareDescriptor(
  entry: DirectoryFile,
  context: DescriptorContext,
  manifest: LoadedManifest | null = null,
): Promise<PreparedDescriptor> {
  let module: string | null = null;
  let files: readonly string[] = [];
  let mounts: readonly Mount[] = [];
  try {
    if ('diagnostic' in entry) throw new InvalidFile([entry.diagnostic]);
    const { plugins } = context;
    const parsed = await parseDescriptor({ ...context, ...entry, adapters: plugins });
    const adapter = await plugins.adapter(parsed.descriptor.provider.kind);
    module = parsed.descriptor.module;
    if (parsed.descriptor.enabled) mounts = parsed.descriptor.mount;
    const factory = await findSigner(parsed.descriptor, plugins);
    files = listNamedFiles(parsed.descriptor, adapter, factory, dirname(entry.path));
    return await completeDescriptor(entry, parsed, { adapter, factory }, context, files, manifest);
  } catch (error) {
    const name = module ?? readModuleName(entry);
    if (!(error instanceof InvalidDescriptor)) {
      throw new UnpreparedDescriptor(error, { module: name, files, mounts });
    }
    throw await findFurtherErrors(entry, error, name, context);
  }
}

/** The files that an invalid descriptor names are checked too, so that all mistakes are shown at once. */
async function findFurtherErrors(
  entry: DirectoryFile,
  { diagnostics, accepted }: InvalidDescriptor,
  module: string | null,
  context: DescriptorContext,
): Promise<UnpreparedDescriptor> {
  const { locate, adapter, signer, config, manifest, mounts } = accepted;
  const { file } = entry;
  const baseDir = dirname(entry.path);
  const place = { file, baseDir, locate };
  const files: string[] = [];
  const checks: Promise<unknown>[] = [];
  if (adapter !== null) {
    files.push(...listReferencedFiles(adapter.config, config, baseDir));
    checks.push(resolveConfig(adapter, config, place, context, []));
    if (signer !== null) {
      const { factory, config: signerConfig, configPath } = signer;
      files.push(...listReferencedFiles(factory.config, signerConfig, baseDir));
      const prefix = toDescriptorPath(configPath);
      checks.push(resolveConfig(factory, signerConfig, place, context, [], prefix));
    }
  }
  if (manifest !== null) {
    files.push(...listManifestFiles(manifest, baseDir));
    const text = 'text' in entry ? entry.text : '';
    const kinds = context.plugins.kinds();
    checks.push(
      readLocalManifest({ descriptor: manifest, ...place, text, kinds, log: context.log }),
    );
  }
  const further = await collectDiagnostics(checks);
  const all = [...diagnostics, ...further.filter((diagnostic) => diagnostic.file === file)];
  const ofOthers = further.filter((diagnostic) => diagnostic.file !== file);
  const cause = new InvalidFile([...sortDiagnostics(all), ...ofOthers]);
  return new UnpreparedDescriptor(cause, { module, files, mounts });
}

/** The diagnostics of all checks that found an invalid file. @throws any other error. */
async function collectDiagnostics(checks: readonly unknown[]): Promise<Diagnostic[]> {
  const results = await Promise.allSettled(checks);
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [];
    if (!(result.reason instanceof InvalidFile)) throw result.reason;
    return result.reason.diagnostics;
  });
}

/** @throws InvalidFile with the diagnostics of all checks. */
async function settleAll<const Checks extends readonly unknown[]>(checks: Checks) {
  const errors = await collectDiagnostics(checks);
  if (errors.length > 0) throw new InvalidFile(errors);
  return Promise.all(checks);
}

async function completeDescriptor(
  { file, path, text }: { readonly file: string; readonly path: string; readonly text: string },
  { descriptor, locate, warnings }: ParsedDescriptor,
  {
    adapter,
    factory,
  }: { readonly adapter: ProviderAdapter; readonly factory: SignerFactory | null },
  context: DescriptorContext,
  namedFiles: readonly string[],
  givenManifest: LoadedManifest | null,
): Promise<PreparedDescriptor> {
  const baseDir = dirname(path);
  const place = { file, baseDir, locate };
  const missingSecrets: MissingSecret[] = [];
  const { checksExamples = false, log } = context;
  const kinds = context.plugins.kinds();
  if (givenManifest !== null) assertFitsAdapter(givenManifest.manifest, adapter);
  const { config } = descriptor.provider;
  const resolving = resolveConfig(adapter, config, place, context, missingSecrets);
  const { config: signerConfig, configPath = [] } = descriptor.configDescription?.signer ?? {};
  const prefix = toDescriptorPath(configPath);
  const { allowsReference, limits } = context;
  const files = { baseDir, source: { file, locate }, allowsReference, limits };
  const [ofAdapter, ofSigner, manifest, further] = await settleAll([
    resolving,
    factory && resolveConfig(factory, signerConfig, place, context, missingSecrets, prefix),
    givenManifest ??
      readLocalManifest({ descriptor, ...place, text, checksExamples, adapter, kinds, log }),
    resolving.then(
      (references) => readFurtherProviders(descriptor, { adapter, references, files }),
      // Its own errors are collected.
      () => [],
    ),
    checkHostUses(descriptor, place, context),
  ]);
  const references = ofSigner === null ? ofAdapter : joinReferences(ofAdapter, ofSigner);
  const declared = manifest?.manifest ?? null;
  const ofBoth = [
    ...findExchangeWarnings(descriptor, declared),
    ...findCacheWarnings(descriptor, declared),
    ...further.flatMap(({ warnings }) => warnings),
  ].map((warning) => createDiagnostic(warning, { file, locate }, 'warning'));
  const isSigned = factory !== null && ofSigner !== null;
  return {
    file,
    text,
    baseDir,
    descriptor: givenManifest === null ? shareManifest(descriptor, manifest) : descriptor,
    locate: locateLater(file, text),
    adapter,
    isTracked: !(adapter.supports.contained === true && context.plugins.isShipped(adapter.kind)),
    kinds,
    signer: isSigned ? { factory, config: signerConfig, references: ofSigner } : null,
    references,
    furtherProviders: further.map(({ section, config, document }) => {
      return { section, config, references: { ...references, document } };
    }),
    manifest,
    warnings: [...warnings, ...ofBoth, ...(manifest?.warnings ?? [])],
    missingSecrets,
    files: listReloadingFiles(namedFiles, descriptor, adapter, baseDir),
    inputDigest: digestParts([descriptor, references.digestPart, manifest?.digest ?? null]),
  };
}

/**
 * Rarely used, so the text is parsed again instead of keeping all positions in memory. A function of
 * its own, because a closure also keeps what its neighbours use.
 */
function locateLater(file: string, text: string): Locate {
  return (path, at) => readStructuredText(file, text).locate(path, at);
}

/** The same descriptor; an inline manifest, which can be large, is not kept a second time. */
function shareManifest(descriptor: Descriptor, loaded: LoadedManifest | null): Descriptor {
  if (descriptor.manifest.kind !== 'inline' || loaded === null) return descriptor;
  return { ...descriptor, manifest: { kind: 'inline', value: loaded.manifest } };
}

/** @throws InvalidFile with each variable and file that cannot be used. */
function resolveConfig(
  { config: struct }: Pick<ProviderAdapter, 'config'>,
  config: unknown,
  { file, baseDir, locate }: DescriptorPlace,
  context: DescriptorContext,
  missingSecrets: MissingSecret[],
  prefix: readonly string[] = ['provider', 'config'],
): Promise<References> {
  return resolveReferences({
    struct,
    config,
    baseDir,
    env: context.environment,
    allowsReference: context.allowsReference,
    limits: context.limits,
    source: { file, locate, prefix },
    ...(context.allowsMissingSecrets === true && {
      onMissingSecret: (missing: MissingSecret) => missingSecrets.push(missing),
    }),
  });
}

/** @throws InvalidFile with each use of the host that is not allowed. */
async function checkHostUses(
  descriptor: Descriptor,
  { file, baseDir, locate }: DescriptorPlace,
  { allowsReference }: DescriptorContext,
): Promise<void> {
  if (allowsReference === undefined) return;
  const violations = (listHostUses(descriptor) ?? []).flatMap((use): Violation[] => {
    const reference = toReference(use, baseDir);
    if (reference === null || allowsReference(reference)) return [];
    const message = `'provider.config' uses the ${use.kind} '${use.name}', ${NOT_ALLOWED}`;
    const path = ['provider', 'config'];
    return [{ rule: 'unresolved-reference', message, hint: null, path, at: 'value' }];
  });
  if (violations.length > 0) throw createInvalidFile(violations, { file, locate });
}

/** `null` for a manifest from a URL or the provider. @throws InvalidFile for an invalid one. */
export async function readLocalManifest(
  input: Omit<ManifestInput, 'readFromProvider' | 'signal'>,
): Promise<LoadedManifest | null> {
  const { kind } = input.descriptor.manifest;
  if (kind === 'url' || kind === 'provider') return null;
  const readFromProvider = () => Promise.reject(new Error('the manifest is local'));
  const { signal } = new AbortController();
  return loadManifest({ readFromProvider, signal, ...input });
}

function listNamedFiles(
  descriptor: Descriptor,
  adapter: ProviderAdapter,
  signer: SignerFactory | null,
  baseDir: string,
): string[] {
  const files = listReferencedFiles(adapter.config, descriptor.provider.config, baseDir);
  const signerConfig = descriptor.configDescription?.signer?.config;
  const ofSigner = signer === null ? [] : listReferencedFiles(signer.config, signerConfig, baseDir);
  const ofOthers = listFurtherFiles(descriptor, adapter, baseDir);
  return [...files, ...ofSigner, ...ofOthers, ...listManifestFiles(descriptor, baseDir)];
}

/** The provider itself follows its documents. */
function listReloadingFiles(
  files: readonly string[],
  descriptor: Descriptor,
  adapter: ProviderAdapter,
  baseDir: string,
): readonly string[] {
  const followed = [
    ...listFollowedFiles(adapter.config, descriptor.provider.config, baseDir),
    ...listFurtherFiles(descriptor, adapter, baseDir),
  ];
  return followed.length === 0 ? files : files.filter((file) => !followed.includes(file));
}

function listFurtherFiles(
  { furtherProviders }: Descriptor,
  { config }: ProviderAdapter,
  baseDir: string,
): string[] {
  return furtherProviders.flatMap(({ changes }) => listReferencedFiles(config, changes, baseDir));
}

function listManifestFiles({ manifest }: Pick<Descriptor, 'manifest'>, baseDir: string): string[] {
  return manifest.kind === 'file' ? [resolve(baseDir, manifest.path)] : [];
}

/** The digest of a descriptor, its manifest and the files that it names together. */
export function configDigestOf(inputDigest: string, manifestDigest: string): string {
  return digestParts([inputDigest, manifestDigest]);
}

/** `sha256:` and the digest of plain values in canonical form. */
export function digestParts(parts: readonly unknown[]): string {
  return digestText(canonicalizeValue(parts));
}
