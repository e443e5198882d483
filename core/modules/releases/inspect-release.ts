import { isAbsolute, posix } from 'node:path';
import canonicalize from 'canonicalize';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { parseDescriptor } from '../../descriptor/parse-descriptor.js';
import { readSigner } from '../../descriptor/signer.js';
import { createFileDiagnostic, type Diagnostic, InvalidFile } from '../../document/diagnostic.js';
import { listReferences } from '../../document/references.js';
import { digestText } from '../../lib/hash.js';
import { type DirectoryFile, readDirectory } from '../../watch/directory.js';
import type { DescriptorContext } from '../prepare-descriptor.js';

/** The requirements of a descriptor for hosts that serve it. */
export interface InspectedDescriptor {
  readonly entry: DirectoryFile & { readonly text: string };
  readonly descriptor: Descriptor;
  /** References of the host, in the form of patterns: `env:NAME`, `file:/absolute/path`. */
  readonly references: readonly string[];
  /** The paths of the files that it names in its folder, with `/`. */
  readonly files: readonly string[];
  /** The digest of kind and config: if they change, references are sent elsewhere. */
  readonly providerDigest: string;
}

interface Inspection {
  readonly descriptors: readonly InspectedDescriptor[];
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
    try {
      if (!('text' in entry)) throw new InvalidFile([entry.diagnostic]);
      descriptors.push(await inspectDescriptor(entry, context));
    } catch (error) {
      if (!(error instanceof InvalidFile)) throw error;
      diagnostics.push(...error.diagnostics);
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
  const { kind, config } = descriptor.provider;
  const adapter = await plugins.adapter(kind);
  const signerChoice = readSigner(config, adapter);
  const found = [
    ...listReferences(adapter.config, config),
    ...(signerChoice === null
      ? []
      : listReferences((await plugins.signer(signerChoice.name)).config, signerChoice.config)),
  ];
  const references = new Set<string>();
  const files = new Set<string>();
  for (const { kind, text } of found) {
    const path = text.startsWith(FILE) ? text.slice(FILE.length) : text;
    if (text.startsWith('env:')) references.add(text);
    else if (isAbsolute(path)) references.add(FILE + requireNormal(path, entry.file));
    else if (kind === 'secret') throw reject(entry.file, describeSecret(path));
    else files.add(requireInside(path, entry.file));
  }
  const { manifest } = descriptor;
  if (manifest.kind === 'file') files.add(requireInside(manifest.path, entry.file));
  return {
    entry,
    descriptor,
    references: [...references].sort(),
    files: [...files].sort(),
    providerDigest: digestText(canonicalize([kind, config]) ?? ''),
  };
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

function describeSecret(path: string): string {
  return `names the secret file '${path}', which a release does not hold: write an absolute path or env:NAME`;
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
