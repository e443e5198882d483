import { dirname } from 'node:path';
import { type ParsedDescriptor, parseDescriptor } from '../../descriptor/parse-descriptor.js';
import { InvalidFile } from '../../document/diagnostic.js';
import { suggestName } from '../../document/suggest.js';
import { ConfigError } from '../../errors.js';
import { type LoadedManifest, loadManifest } from '../../manifest/load-manifest.js';
import type { DescriptorContext } from '../../modules/prepare-descriptor.js';
import type { DirectoryFile } from '../../watch/directory.js';
import { checkDescriptors } from '../check/check-descriptors.js';
import { describeFile } from '../check/describe-file.js';
import { type GrantsReport, reportGrants } from './grants-report.js';

/**
 * Reads what the descriptor of a module grants and what its manifest declares. A manifest that a URL or
 * the provider gives is not asked for.
 * @throws ConfigError when no descriptor is for the module; InvalidFile when its files are bad.
 */
export async function readGrants(
  module: string,
  folder: string,
  context: DescriptorContext,
): Promise<GrantsReport> {
  const entry = await findDescriptor(module, folder, context);
  if ('diagnostic' in entry) throw new InvalidFile([entry.diagnostic]);
  const parsed = await parseDescriptor({ ...entry, adapters: context.plugins });
  const manifest = await readManifestAtHand(parsed, entry);
  return reportGrants(parsed.descriptor, manifest, describeFile(folder, entry.file));
}

async function findDescriptor(
  module: string,
  folder: string,
  context: DescriptorContext,
): Promise<DirectoryFile> {
  const { descriptors } = await checkDescriptors(folder, context);
  const named = descriptors.filter((judged) => judged.module === module);
  // Of two with one name, the one that a host would serve.
  const found = named.find(({ prepared }) => prepared?.descriptor.enabled) ?? named[0];
  if (found !== undefined) return found.entry;
  const names = descriptors.flatMap((judged) => judged.module ?? []);
  const hint = suggestName(module, names);
  throw new ConfigError(
    `no descriptor of ${folder} is for the module '${module}'${hint === null ? '' : `: ${hint}`}`,
  );
}

async function readManifestAtHand(
  { descriptor, locate }: ParsedDescriptor,
  { file, path }: DirectoryFile,
): Promise<LoadedManifest | null> {
  const { kind } = descriptor.manifest;
  if (kind === 'url' || kind === 'provider') return null;
  return loadManifest({
    // Whether the pin fits is told, not judged.
    descriptor: { ...descriptor, manifestDigest: null },
    file,
    locate,
    baseDir: dirname(path),
    askProvider: () => Promise.reject(new Error('the manifest is at hand')),
    signal: new AbortController().signal,
  });
}
