import { createHash } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import { canonicalizeValue } from '../contract/canonical-value.js';
import type { Manifest, ProviderAdapter, SignerFactory } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { readSmallFile } from '../document/read-file.js';
import { isTransient } from '../document/transient-error.js';
import { digestText } from '../lib/hash.js';
import { listHostUses } from './host-uses.js';
import { listConfigReferences } from './releases/inspect-release.js';

/** A descriptor, with what its provider is opened with. */
export interface PlacedDescriptor {
  readonly descriptor: Descriptor;
  readonly adapter: ProviderAdapter;
  readonly signer: SignerFactory | null;
  /** The folder of the descriptor. */
  readonly baseDir: string;
}

/**
 * The digest of all that decides where the configuration of a module is delivered: its providers, the contents of
 * their files, and the path. It is the same for a folder of modules and for a release.
 */
export async function readDeliveryPlace(
  placed: PlacedDescriptor,
  { config }: Pick<Manifest, 'config'>,
): Promise<string> {
  const { descriptor } = placed;
  const sections = descriptor.furtherProviders.map(({ section }) =>
    Reflect.get(descriptor, section),
  );
  const contents = await Promise.all(
    listFiles(placed).map(async (path) => [path, await digestFile(resolve(placed.baseDir, path))]),
  );
  const path = config?.delivery_path ?? null;
  const parts = [descriptor.provider, sections, Object.fromEntries(contents), path];
  return digestText(canonicalizeValue(parts));
}

/** Files of the folder, as written. Publishers cannot change those of the host, which have absolute paths. */
function listFiles({ descriptor, adapter, signer }: PlacedDescriptor): readonly string[] {
  const references = listConfigReferences(descriptor, adapter, signer)
    .filter(({ kind, text }) => kind !== 'secret' && !text.startsWith('env:'))
    .map(({ text }) => text.replace(/^file:/, ''));
  const used = (listHostUses(descriptor) ?? []).flatMap(({ kind, name }) =>
    kind === 'file' ? [name] : [],
  );
  return [...new Set([...references, ...used])].filter((path) => !isAbsolute(path)).sort();
}

/**
 * `null` for a folder, and for a file that cannot be read.
 * @throws FileError for a transient error
 */
async function digestFile(path: string): Promise<string | null> {
  const bytes = await readSmallFile(path).catch((error: unknown) => {
    if (isTransient(error)) throw error;
    return null;
  });
  return bytes === null ? null : createHash('sha256').update(bytes).digest('hex');
}
