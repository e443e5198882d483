import {
  createDiagnostic,
  createFileDiagnostic,
  type Diagnostic,
  InvalidFile,
} from '../../document/diagnostic.js';
import {
  type DescriptorContext,
  type PreparedDescriptor,
  prepareDescriptor,
  UnpreparedDescriptor,
} from '../../modules/prepare-descriptor.js';
import { explainError } from '../../modules/state-reason.js';
import { type DirectoryFile, type DirectoryListing, readDirectory } from '../../watch/directory.js';

/** A descriptor judged as a host would, without opening anything. */
export interface CheckedDescriptor {
  readonly entry: DirectoryFile;
  /** `null` where it could not be read. */
  readonly module: string | null;
  /** `null` when the host would refuse it. */
  readonly prepared: PreparedDescriptor | null;
  /** Files as findings name them: this one by its name, those that it names as it writes them. */
  readonly findings: readonly Diagnostic[];
}

export interface CheckedFolder {
  readonly descriptors: readonly CheckedDescriptor[];
  readonly ignored: DirectoryListing['ignored'];
}

/**
 * Judges every descriptor of a folder, and what only the folder shows.
 * @throws UnreadableDirectory when the folder is not there or cannot be read.
 */
export async function checkDescriptors(
  directory: string,
  context: DescriptorContext,
): Promise<CheckedFolder> {
  const { files, ignored } = await readDirectory(directory);
  const descriptors: CheckedDescriptor[] = [];
  for (const entry of files) descriptors.push(await checkDescriptor(entry, context));
  return { descriptors: settleNames(descriptors), ignored };
}

export async function checkDescriptor(
  entry: DirectoryFile,
  context: DescriptorContext,
): Promise<CheckedDescriptor> {
  try {
    const prepared = await prepareDescriptor(entry, context);
    const { descriptor, warnings } = prepared;
    return { entry, module: descriptor.module, prepared, findings: warnings };
  } catch (error) {
    if (!(error instanceof UnpreparedDescriptor)) throw error;
    const findings = readDiagnostics(entry.file, error.cause);
    return { entry, module: error.module, prepared: null, findings };
  }
}

function readDiagnostics(file: string, cause: unknown): readonly Diagnostic[] {
  if (cause instanceof InvalidFile) return cause.diagnostics;
  const { reason, hint } = explainError(cause);
  return [{ ...createFileDiagnostic(file, 'unusable-descriptor', reason), hint }];
}

/** Contract 6: of two files with one name the first keeps it; a disabled one asks for none. */
function settleNames(descriptors: readonly CheckedDescriptor[]): CheckedDescriptor[] {
  const owners = new Map<string, string>();
  return descriptors.map((judged) => {
    const { entry, module, prepared } = judged;
    if (module === null || !prepared?.descriptor.enabled) return judged;
    const owner = owners.get(module);
    if (owner === undefined) {
      owners.set(module, entry.file);
      return judged;
    }
    const finding = createNameDiagnostic(prepared, owner);
    return { ...judged, prepared: null, findings: [finding, ...judged.findings] };
  });
}

function createNameDiagnostic({ descriptor, file, locate }: PreparedDescriptor, owner: string) {
  return createDiagnostic(
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
