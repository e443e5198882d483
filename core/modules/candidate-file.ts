import type { AnyStruct } from '../contract/described.js';
import type { ProviderAdapter } from '../contract/index.js';
import { restrictCandidateFile } from '../descriptor/candidate.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { Locate } from '../document/diagnostic.js';
import { listReferencedFiles, type References, resolveReferences } from '../document/references.js';

interface CandidateFile extends Pick<References, 'document'> {
  /** The endpoints that the file lists at load. */
  readonly listed: readonly unknown[];
}

/** The positions of the parts of a descriptor. */
export interface DescriptorPlace {
  readonly file: string;
  readonly baseDir: string;
  readonly locate: Locate;
}

type EndpointsConfig = readonly unknown[] | { readonly file: string };

/**
 * Reads the file of a candidate's endpoints.
 * @param references the references of the live provider
 * @returns `null` without such a file
 * @throws InvalidFile for an unusable file
 */
export async function readCandidateFile(
  adapter: ProviderAdapter,
  { candidate, provider }: Descriptor,
  references: References,
  { file, baseDir, locate }: DescriptorPlace,
): Promise<CandidateFile | null> {
  const endpoints = candidate?.endpoints;
  if (endpoints === undefined || !('file' in endpoints)) return null;
  const { endpoints: configured } = provider.config as { readonly endpoints: EndpointsConfig };
  const live = 'file' in configured ? references.document(configured.file).content : configured;
  const { document } = await resolveReferences({
    struct: adapter.config,
    // The other members are those of the live provider, whose references are already known.
    config: { endpoints },
    baseDir,
    env: {},
    source: { file, locate, prefix: ['candidate'] },
    restrictDocument: (struct: AnyStruct) => restrictCandidateFile(struct, live as unknown[]),
  });
  return { document, listed: document(endpoints.file).content as unknown[] };
}

/** Absolute paths; empty for a candidate without a file of endpoints. */
export function listCandidateFiles(
  { candidate }: Descriptor,
  { config }: ProviderAdapter,
  baseDir: string,
): string[] {
  if (candidate === undefined) return [];
  return listReferencedFiles(config, { endpoints: candidate.endpoints }, baseDir);
}
