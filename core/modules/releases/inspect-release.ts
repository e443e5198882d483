import { isAbsolute, posix } from 'node:path';
import type { ProviderAdapter, SignerFactory } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { parseDescriptor } from '../../descriptor/parse-descriptor.js';
import {
  createFileDiagnostic,
  type Diagnostic,
  InvalidFile,
  MAX_DIAGNOSTICS,
} from '../../document/diagnostic.js';
import { listReferences } from '../../document/references.js';
import type { TextLimits } from '../../document/text-limits.js';
import { nextTurn } from '../../lib/slices.js';
import { type DirectoryFile, readDirectory } from '../../watch/directory.js';
import { findSigner } from '../find-signer.js';
import { isOfPath, listHostUses } from '../host-uses.js';
import type { DescriptorContext } from '../prepare-descriptor.js';

/**
 * The limits of a descriptor in a release, and of documents that it names: hosts parse them on the event loop. Its
 * manifest is parsed in a thread and has the limits of a file, if it is one.
 */
export const DESCRIPTOR_LIMITS: TextLimits = {
  length: 128 * 1024,
  yamlLength: 128 * 1024,
  values: 10_000,
  yamlTokens: 10_000,
  hint: 'write a large manifest into a file of its own',
};

/** The requirements of a descriptor for hosts that serve it. */
export interface InspectedDescriptor {
  readonly entry: DirectoryFile & { readonly text: string };
  readonly descriptor: Descriptor;
  /**
   * What it uses of the host, in the form of patterns: `env:NAME`, `file:/absolute/path`,
   * `socket:/absolute/path`, `command:NAME`.
   */
  readonly references: readonly string[];
  /** The paths of the files that it names in its folder, with `/`. The release must hold them. */
  readonly files: readonly string[];
  /** Paths in its folder that its adapter reads itself: files, or folders. */
  readonly paths: readonly string[];
  /** Whether it runs code on the host, or its adapter does not say what it uses. */
  readonly runsCode: boolean;
  /** Whether the host uses credentials for it: references, or those of a signer. */
  readonly hasCredentials: boolean;
}

interface Inspection {
  readonly descriptors: readonly InspectedDescriptor[];
  /** The first 100. */
  readonly diagnostics: readonly Diagnostic[];
}

const FILE = 'file:';

/**
 * Parses the descriptors of a folder and lists what they name. Reads no other file, so that it can run before it is
 * known whether the author may name them.
 */
export async function inspectFolder(
  folder: string,
  context: DescriptorContext,
): Promise<Inspection> {
  const { files } = await readDirectory(folder);
  const descriptors: InspectedDescriptor[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const entry of files) {
    await nextTurn();
    try {
      if (!('text' in entry)) throw new InvalidFile([entry.diagnostic]);
      descriptors.push(await inspectDescriptor(entry, context));
    } catch (error) {
      if (!(error instanceof InvalidFile)) throw error;
      diagnostics.push(...error.diagnostics.slice(0, MAX_DIAGNOSTICS - diagnostics.length));
    }
  }
  return { descriptors, diagnostics };
}

/** @throws InvalidFile for a descriptor that is invalid in itself, or names a file that a release cannot have. */
async function inspectDescriptor(
  entry: InspectedDescriptor['entry'],
  context: DescriptorContext,
): Promise<InspectedDescriptor> {
  const { plugins } = context;
  const { descriptor } = await parseDescriptor({ ...context, ...entry, adapters: plugins });
  const adapter = await plugins.adapter(descriptor.provider.kind);
  const signer = await findSigner(descriptor, plugins);
  const uses = listHostUses(descriptor);
  const references = new Set<string>();
  const files = new Set<string>();
  const paths = new Set<string>();
  for (const { kind, text } of listConfigReferences(descriptor, adapter, signer)) {
    const path = text.startsWith(FILE) ? text.slice(FILE.length) : text;
    if (text.startsWith('env:')) references.add(text);
    else if (isAbsolute(path)) references.add(FILE + requireNormal(path, entry.file));
    else if (kind === 'secret') throw reject(entry.file, describeMissing('secret file', path));
    else files.add(requireInside(path, entry.file));
  }
  for (const use of uses ?? []) {
    const { kind, name } = use;
    if (isOfPath(use)) references.add(`${kind}:${name}`);
    else if (isAbsolute(name)) references.add(`${kind}:${requireNormal(name, entry.file)}`);
    else if (kind === 'socket') throw reject(entry.file, describeMissing('socket', name));
    else paths.add(requireInside(name, entry.file).replace(/\/$/, ''));
  }
  const { manifest } = descriptor;
  if (manifest.kind === 'file') files.add(requireInside(manifest.path, entry.file));
  return {
    entry,
    descriptor,
    references: [...references].sort(),
    files: [...files].sort(),
    paths: [...paths].sort(),
    runsCode: uses?.some(({ kind }) => kind === 'command') ?? true,
    hasCredentials: references.size > 0 || signer !== null,
  };
}

/** The references of the providers and the signer. */
export function listConfigReferences(
  { provider, configDescription, furtherProviders }: Descriptor,
  adapter: ProviderAdapter,
  signer: SignerFactory | null,
): ReturnType<typeof listReferences> {
  return [
    ...[provider, ...furtherProviders].flatMap(({ config }) =>
      listReferences(adapter.config, config),
    ),
    ...(signer === null ? [] : listReferences(signer.config, configDescription?.signer?.config)),
  ];
}

/** A path that steps out of a folder would match the pattern of that folder. */
function requireNormal(path: string, file: string): string {
  if (posix.normalize(path) === path) return path;
  throw reject(file, `names the path '${path}' with '.', '..' or '//': write it without them`);
}

function requireInside(path: string, file: string): string {
  const inside = isAbsolute(path) ? '..' : posix.normalize(path);
  if (inside !== '..' && !inside.startsWith('../')) return inside;
  throw reject(file, `names the file '${path}', which is not in the folder of the descriptor`);
}

function describeMissing(noun: string, path: string): string {
  const instead = noun === 'socket' ? 'an absolute path' : 'an absolute path or env:NAME';
  return `names the ${noun} '${path}', which a release does not hold: write ${instead}`;
}

function reject(file: string, problem: string): InvalidFile {
  return new InvalidFile([createFileDiagnostic(file, 'release-path', `the descriptor ${problem}`)]);
}

/** Finds missing files that descriptors of the folder name, with the descriptor. */
export function findMissingFiles(
  { descriptors }: Inspection,
  has: (path: string) => boolean,
): readonly { readonly file: string; readonly path: string }[] {
  return descriptors.flatMap(({ entry, files }) =>
    files.filter((path) => !has(path)).map((path) => ({ file: entry.file, path })),
  );
}

/** The path in a release of a manifest that was read from a URL or a provider. */
export function pinnedManifestPath(file: string): string {
  return `${file.replace(/\.(?:json|ya?ml)$/, '')}.manifest.json`;
}

/** @param patterns a reference, or its beginning and `*` */
export function isAllowedReference(reference: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? reference.startsWith(pattern.slice(0, -1)) : reference === pattern,
  );
}
