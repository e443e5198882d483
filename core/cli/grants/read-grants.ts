import { dirname } from 'node:path';
import { parseDescriptor } from '../../descriptor/parse-descriptor.js';
import { InvalidFile } from '../../document/diagnostic.js';
import { suggestName } from '../../document/suggest.js';
import { ConfigError } from '../../errors.js';
import { type DescriptorContext, readLocalManifest } from '../../modules/prepare-descriptor.js';
import type { DirectoryFile } from '../../watch/directory.js';
import { checkDescriptors } from '../check/check-descriptors.js';
import { describeFile } from '../check/describe-file.js';
import { createGrantsReport, type GrantsReport } from './grants-report.js';

/**
 * Reads the grants of a module's descriptor and its manifest. Does not fetch a manifest from a URL or the
 * provider.
 * @throws ConfigError for a module without a descriptor; InvalidFile for an invalid file.
 */
export async function readGrants(
  module: string,
  folder: string,
  context: DescriptorContext,
): Promise<GrantsReport> {
  const entry = await findDescriptor(module, folder, context);
  if ('diagnostic' in entry) throw new InvalidFile([entry.diagnostic]);
  const parsed = await parseDescriptor({ ...entry, adapters: context.plugins });
  const manifest = await readLocalManifest({
    // The pin is reported instead of enforced.
    descriptor: { ...parsed.descriptor, manifestDigest: null },
    file: entry.file,
    locate: parsed.locate,
    baseDir: dirname(entry.path),
  });
  return createGrantsReport(parsed.descriptor, manifest, describeFile(folder, entry.file));
}

async function findDescriptor(
  module: string,
  folder: string,
  context: DescriptorContext,
): Promise<DirectoryFile> {
  const { descriptors } = await checkDescriptors(folder, context);
  const named = descriptors.filter((checked) => checked.module === module);
  // Of two with the same name, the one that a host would serve.
  const found = named.find(({ prepared }) => prepared?.descriptor.enabled) ?? named[0];
  if (found !== undefined) return found.entry;
  const names = descriptors.flatMap((checked) => checked.module ?? []);
  const hint = suggestName(module, names);
  throw new ConfigError(
    `${folder} has no descriptor for the module '${module}'${hint === null ? '' : `: ${hint}`}`,
  );
}
