import { readMember } from '../lib/read-member.js';
import type { Descriptor } from './descriptor.js';
import type { FilesContext, FurtherProvider, ReadDocuments, SectionContext } from './section.js';
import { FURTHER_PROVIDERS } from './sections.js';

/** The providers that a descriptor, which may have errors, names beside the live one. */
export function checkFurtherProviders({ adapter, ...context }: SectionContext) {
  if (adapter === null) return [];
  return [...FURTHER_PROVIDERS].flatMap(([section, { check }]) => {
    const isWritten = readMember(context.written, section) !== undefined;
    return isWritten ? [check({ ...context, adapter })] : [];
  });
}

/**
 * The same providers with the documents that their configs name.
 * @throws InvalidFile for an unusable document.
 */
export async function readFurtherProviders(
  { provider: { config }, configDescription: live, furtherProviders }: Descriptor,
  context: Omit<FilesContext, 'config' | 'live'>,
): Promise<readonly (FurtherProvider & ReadDocuments)[]> {
  const read = furtherProviders.map(async (provider) => {
    const rules = FURTHER_PROVIDERS.get(provider.section);
    const found = await rules?.read(provider, { ...context, config, live });
    return found === undefined ? [] : { ...provider, ...found };
  });
  return (await Promise.all(read)).flat();
}
