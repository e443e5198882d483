import {
  createFileFinding,
  createFinding,
  type Finding,
  InvalidFile,
} from '../../document/diagnostic.js';
import { explainTrouble } from '../../modules/module-record.js';
import {
  type DescriptorContext,
  type PreparedDescriptor,
  prepareDescriptor,
  UnpreparedDescriptor,
} from '../../modules/prepare-descriptor.js';
import { type DirectoryFile, type DirectoryListing, readDirectory } from '../../watch/directory.js';

/** A descriptor judged as a host would, without opening anything. */
export interface JudgedDescriptor {
  readonly entry: DirectoryFile;
  /** `null` where it could not be read. */
  readonly module: string | null;
  /** `null` when the host would refuse it. */
  readonly prepared: PreparedDescriptor | null;
  /** Files as findings name them: this one by its name, those that it names as it writes them. */
  readonly findings: readonly Finding[];
}

export interface JudgedFolder {
  readonly descriptors: readonly JudgedDescriptor[];
  readonly ignored: DirectoryListing['ignored'];
}

/**
 * Judges every descriptor of a folder, and what only the folder shows.
 * @throws UnreadableDirectory when the folder is not there or cannot be read.
 */
export async function judgeFolder(
  directory: string,
  context: DescriptorContext,
): Promise<JudgedFolder> {
  const { files, ignored } = await readDirectory(directory);
  const descriptors: JudgedDescriptor[] = [];
  for (const entry of files) descriptors.push(await judgeDescriptor(entry, context));
  return { descriptors: settleNames(descriptors), ignored };
}

export async function judgeDescriptor(
  entry: DirectoryFile,
  context: DescriptorContext,
): Promise<JudgedDescriptor> {
  try {
    const prepared = await prepareDescriptor(entry, context);
    const { descriptor, warnings } = prepared;
    return { entry, module: descriptor.module, prepared, findings: warnings };
  } catch (error) {
    if (!(error instanceof UnpreparedDescriptor)) throw error;
    const findings = readFindings(entry.file, error.cause);
    return { entry, module: error.module, prepared: null, findings };
  }
}

function readFindings(file: string, cause: unknown): readonly Finding[] {
  if (cause instanceof InvalidFile) return cause.findings;
  const { reason, hint } = explainTrouble(cause);
  return [{ ...createFileFinding(file, 'unusable-descriptor', reason), hint }];
}

/** Contract 6: of two files with one name the first keeps it; a disabled one asks for none. */
function settleNames(descriptors: readonly JudgedDescriptor[]): JudgedDescriptor[] {
  const owners = new Map<string, string>();
  return descriptors.map((judged) => {
    const { entry, module, prepared } = judged;
    if (module === null || !prepared?.descriptor.enabled) return judged;
    const owner = owners.get(module);
    if (owner === undefined) {
      owners.set(module, entry.file);
      return judged;
    }
    const finding = createNameFinding(prepared, owner);
    return { ...judged, prepared: null, findings: [finding, ...judged.findings] };
  });
}

function createNameFinding({ descriptor, file, locate }: PreparedDescriptor, owner: string) {
  return createFinding(
    {
      rule: 'duplicate-module',
      message: `module '${descriptor.module}' is already configured by ${owner}`,
      hint: 'give one of the two another name, or remove it',
      path: ['module'],
      at: 'value',
    },
    { file, locate },
  );
}
