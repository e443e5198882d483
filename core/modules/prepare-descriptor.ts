import { dirname, resolve } from 'node:path';
import canonicalize from 'canonicalize';
import type { Log, ProviderAdapter, SignerFactory } from '../contract/index.js';
import { findOriginWarnings } from '../descriptor/candidate.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { findExchangeWarnings } from '../descriptor/exchange-warnings.js';
import { MODULE_NAME } from '../descriptor/identifiers.js';
import type { Mount, ReservedPrefixes } from '../descriptor/mounts.js';
import {
  InvalidDescriptor,
  type ParsedDescriptor,
  parseDescriptor,
} from '../descriptor/parse-descriptor.js';
import { readSigner, SIGNER_CONFIG_PATH } from '../descriptor/signer.js';
import {
  createDiagnostic,
  type Diagnostic,
  InvalidFile,
  type Locate,
  sortDiagnostics,
} from '../document/diagnostic.js';
import { readStructuredText } from '../document/parse-document.js';
import {
  joinReferences,
  listFollowedFiles,
  listReferencedFiles,
  type MissingSecret,
  type References,
  resolveReferences,
} from '../document/references.js';
import { digestText } from '../lib/hash.js';
import { findCacheWarnings } from '../manifest/cache-rules.js';
import {
  type LoadedManifest,
  loadManifest,
  type ManifestInput,
} from '../manifest/load-manifest.js';
import type { AdapterLimits } from '../manifest/route-rules.js';
import type { AdapterSource } from '../plugin-loader/adapter-source.js';
import type { DirectoryFile } from '../watch/directory.js';
import type { DescriptorPlace } from './candidate-file.js';
import { listCandidateFiles, readCandidateFile } from './candidate-file.js';

export interface DescriptorContext {
  /** Default: no log. */
  readonly log?: Log;
  readonly plugins: AdapterSource;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The headers that hold credentials of callers, in lower case: a descriptor must not forward them. */
  readonly credentialHeaders?: readonly string[];
  /** Prefixes that no mount may have. */
  readonly reservedPrefixes?: ReservedPrefixes;
  /** Whether the host has what rates over all hosts need. Default: not checked. */
  readonly canShareRates?: boolean;
  /** Whether a descriptor may use a variable or a file outside of its folder. Default: any. */
  readonly allowsReference?: (reference: string) => boolean;
  /** Reports unresolved secrets in the result instead of as errors. Default false. */
  readonly allowsMissingSecrets?: boolean;
  /** Whether an example of the manifest that violates its schema is an error. Default false. */
  readonly checksExamples?: boolean;
}

/** A valid descriptor, with everything that is known before its provider is opened. */
export interface PreparedDescriptor {
  readonly file: string;
  /** The text of the file. */
  readonly text: string;
  /** The folder of the descriptor. Paths in it are relative to this folder. */
  readonly baseDir: string;
  readonly descriptor: Descriptor;
  readonly locate: Locate;
  readonly adapter: ProviderAdapter;
  /** The signer of the config, and the references of its own config; `null` without one. */
  readonly signer: PreparedSigner | null;
  /** The references of the adapter; its lists also have those of the signer. */
  readonly references: References;
  /** Those of the candidate's config; without a candidate the same. */
  readonly candidateReferences: References;
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

/** A signer that is not open yet. */
export interface PreparedSigner {
  readonly factory: SignerFactory;
  readonly config: unknown;
  readonly references: References;
}

/** A descriptor that cannot be used; the reason is its `cause`. */
export class UnpreparedDescriptor extends Error {
  override readonly name = 'UnpreparedDescriptor';
  /** The module that it configures; `null` if the name could not be read. */
  readonly module: string | null;
  /** Files whose change may make it valid, absolute. */
  readonly files: readonly string[];
  /** The mounts as far as they can be read. */
  readonly mounts: readonly Mount[];

  constructor(
    cause: unknown,
    { module, files, mounts }: Pick<UnpreparedDescriptor, 'module' | 'files' | 'mounts'>,
  ) {
    super('the descriptor cannot be used', { cause });
    this.module = module;
    this.files = files;
    this.mounts = mounts;
  }
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
    const signerChoice = readSigner(parsed.descriptor.provider.config, adapter);
    const factory = signerChoice === null ? null : await plugins.signer(signerChoice.name);
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
  { file, path }: DirectoryFile,
  { diagnostics, accepted }: InvalidDescriptor,
  module: string | null,
  context: DescriptorContext,
): Promise<UnpreparedDescriptor> {
  const { locate, adapter, signer, config, manifest, mounts } = accepted;
  const baseDir = dirname(path);
  const place = { file, baseDir, locate };
  const files: string[] = [];
  const checks: Promise<unknown>[] = [];
  if (adapter !== null) {
    files.push(...listReferencedFiles(adapter.config, config, baseDir));
    checks.push(resolveConfig(adapter, config, place, context, []));
    if (signer !== null) {
      const signerConfig = readSigner(config, adapter)?.config;
      files.push(...listReferencedFiles(signer.config, signerConfig, baseDir));
      checks.push(resolveConfig(signer, signerConfig, place, context, [], SIGNER_CONFIG_PATH));
    }
  }
  if (manifest !== null) {
    files.push(...listManifestFiles(manifest, baseDir));
    checks.push(readLocalManifest({ descriptor: manifest, ...place, log: context.log }));
  }
  const further = await collectDiagnostics(checks);
  const all = [...diagnostics, ...further.filter((diagnostic) => diagnostic.file === file)];
  const ofOthers = further.filter((diagnostic) => diagnostic.file !== file);
  const cause = new InvalidFile([...sortDiagnostics(all), ...ofOthers]);
  return new UnpreparedDescriptor(cause, { module, files, mounts });
}

/** The diagnostics of all checks that found an invalid file. @throws any other error. */
async function collectDiagnostics(checks: readonly Promise<unknown>[]): Promise<Diagnostic[]> {
  const results = await Promise.allSettled(checks);
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [];
    if (!(result.reason instanceof InvalidFile)) throw result.reason;
    return result.reason.diagnostics;
  });
}

/** The module name in an invalid descriptor, for operators; `null` if there is none. */
function readModuleName(entry: DirectoryFile): string | null {
  if ('diagnostic' in entry) return null;
  try {
    const { value } = readStructuredText(entry.file, entry.text);
    const name = typeof value === 'object' && value !== null ? Reflect.get(value, 'module') : null;
    return typeof name === 'string' && MODULE_NAME.test(name) ? name : null;
  } catch {
    return null;
  }
}

async function completeDescriptor(
  { file, path, text }: { readonly file: string; readonly path: string; readonly text: string },
  { descriptor, locate, warnings }: ParsedDescriptor,
  {
    adapter,
    factory,
  }: { readonly adapter: ProviderAdapter; readonly factory: SignerFactory | null },
  context: DescriptorContext,
  files: readonly string[],
  givenManifest: LoadedManifest | null,
): Promise<PreparedDescriptor> {
  const baseDir = dirname(path);
  const place = { file, baseDir, locate };
  const missingSecrets: MissingSecret[] = [];
  const { checksExamples = false } = context;
  const { config } = descriptor.provider;
  const resolving = resolveConfig(adapter, config, place, context, missingSecrets);
  const signerConfig = readSigner(config, adapter)?.config;
  const signing =
    factory === null
      ? null
      : resolveConfig(factory, signerConfig, place, context, missingSecrets, SIGNER_CONFIG_PATH);
  const adapterLimits = limitsOf(adapter);
  const loading =
    givenManifest ??
    readLocalManifest({ descriptor, ...place, checksExamples, adapterLimits, log: context.log });
  const ofCandidate = resolving.then(
    (references) => readCandidateFile(adapter, descriptor, references, place),
    // Its own errors are collected.
    () => null,
  );
  const checks = [resolving, Promise.resolve(signing), Promise.resolve(loading), ofCandidate];
  const errors = await collectDiagnostics(checks);
  if (errors.length > 0) throw new InvalidFile(errors);
  const candidate = await ofCandidate;
  const [ofAdapter, ofSigner, manifest] = [await resolving, await signing, await loading];
  const references = ofSigner === null ? ofAdapter : joinReferences(ofAdapter, ofSigner);
  const declared = manifest?.manifest ?? null;
  const ofBoth = [
    ...findExchangeWarnings(descriptor, adapter, declared),
    ...findCacheWarnings(descriptor, declared),
    ...findOriginWarnings(descriptor, candidate?.listed ?? null),
  ].map((warning) => createDiagnostic(warning, { file, locate }, 'warning'));
  const isSigned = factory !== null && ofSigner !== null;
  return {
    file,
    text,
    baseDir,
    descriptor: givenManifest === null ? shareManifest(descriptor, manifest) : descriptor,
    // Rarely used, so the text is parsed again instead of keeping all positions in memory.
    locate: (path, at) => readStructuredText(file, text).locate(path, at),
    adapter,
    signer: isSigned ? { factory, config: signerConfig, references: ofSigner } : null,
    references,
    candidateReferences: {
      ...references,
      ...(candidate !== null && { document: candidate.document }),
    },
    manifest,
    warnings: [...warnings, ...ofBoth, ...(manifest?.warnings ?? [])],
    missingSecrets,
    files: listReloadingFiles(files, descriptor, adapter, baseDir),
    inputDigest: digestParts([descriptor, references.digestPart, manifest?.digest ?? null]),
  };
}

/** The capabilities of the adapter for routes of the manifest. */
export function limitsOf({ supports, kind }: ProviderAdapter): AdapterLimits {
  return { kind, streams: supports.streams === true, upgrades: supports.upgrade === true };
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
    source: { file, locate, prefix },
    ...(context.allowsMissingSecrets === true && {
      onMissingSecret: (missing: MissingSecret) => missingSecrets.push(missing),
    }),
  });
}

/** `null` for a manifest from a URL or the provider. @throws InvalidFile for an invalid one. */
export async function readLocalManifest(
  input: Omit<ManifestInput, 'readFromProvider' | 'signal'>,
): Promise<LoadedManifest | null> {
  const { kind } = input.descriptor.manifest;
  if (kind === 'url' || kind === 'provider') return null;
  const readFromProvider = () => Promise.reject(new Error('the manifest is local'));
  const { signal } = new AbortController();
  return loadManifest({ ...input, readFromProvider, signal });
}

function listNamedFiles(
  descriptor: Descriptor,
  adapter: ProviderAdapter,
  signer: SignerFactory | null,
  baseDir: string,
): string[] {
  const { config } = descriptor.provider;
  const files = listReferencedFiles(adapter.config, config, baseDir);
  const signerConfig = readSigner(config, adapter)?.config;
  const ofSigner = signer === null ? [] : listReferencedFiles(signer.config, signerConfig, baseDir);
  const ofCandidate = listCandidateFiles(descriptor, adapter, baseDir);
  return [...files, ...ofSigner, ...ofCandidate, ...listManifestFiles(descriptor, baseDir)];
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
    ...listCandidateFiles(descriptor, adapter, baseDir),
  ];
  return followed.length === 0 ? files : files.filter((file) => !followed.includes(file));
}

function listManifestFiles({ manifest }: Pick<Descriptor, 'manifest'>, baseDir: string): string[] {
  return manifest.kind === 'file' ? [resolve(baseDir, manifest.path)] : [];
}

/** The digest of a descriptor, its manifest and the files that it names together. */
export function configDigestOf(inputDigest: string, manifestDigest: string): string {
  return digestParts([inputDigest, manifestDigest]);
}

/** `sha256:` and the digest of plain values in canonical form. */
function digestParts(parts: readonly unknown[]): string {
  return digestText(canonicalize(parts) ?? '');
}
