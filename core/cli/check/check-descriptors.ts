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

/** A descriptor that was validated like in a host, without opening a provider. */
export interface CheckedDescriptor {
  readonly entry: DirectoryFile;
  /** `null` where it could not be read. */
  readonly module: string | null;
  /** `null` when a host would reject it. */
  readonly prepared: PreparedDescriptor | null;
  /** Every file that the descriptor names, absolute; of an invalid one as far as they are known. */
  readonly files: readonly string[];
  /** They name the descriptor by its file name, other files as the descriptor refers to them. */
  readonly diagnostics: readonly Diagnostic[];
}

interface CheckedFolder {
  readonly descriptors: readonly CheckedDescriptor[];
  readonly ignored: DirectoryListing['ignored'];
}

/**
 * Validates every descriptor of a folder, and that no two have the same module name.
 * @throws UnreadableDirectory for a folder that does not exist or cannot be read.
 */
export async function checkDescriptors(
  directory: string,
  context: DescriptorContext,
): Promise<CheckedFolder> {
  const { files, ignored } = await readDirectory(directory);
  const descriptors: CheckedDescriptor[] = [];
  for (const entry of files) descriptors.push(await checkDescriptor(entry, context));
  return { descriptors: rejectDuplicates(descriptors), ignored };
}

export async function checkDescriptor(
  entry: DirectoryFile,
  context: DescriptorContext,
): Promise<CheckedDescriptor> {
  try {
    const prepared = await prepareDescriptor(entry, context);
    const { descriptor, warnings } = prepared;
    const { files } = prepared;
    return { entry, module: descriptor.module, prepared, files, diagnostics: warnings };
  } catch (error) {
    if (!(error instanceof UnpreparedDescriptor)) throw error;
    const diagnostics = readDiagnostics(entry.file, error.cause);
    return { entry, module: error.module, prepared: null, files: error.files, diagnostics };
  }
}

function readDiagnostics(file: string, cause: unknown): readonly Diagnostic[] {
  if (cause instanceof InvalidFile) return cause.diagnostics;
  const { reason, hint } = explainError(cause);
  return [{ ...createFileDiagnostic(file, 'unusable-descriptor', reason), hint }];
}

/** Of two files with the same module name the first keeps it. Disabled ones have no claim. */
function rejectDuplicates(descriptors: readonly CheckedDescriptor[]): CheckedDescriptor[] {
  const owners = new Map<string, string>();
  return descriptors.map((checked) => {
    const { entry, module, prepared } = checked;
    if (module === null || !prepared?.descriptor.enabled) return checked;
    const owner = owners.get(module);
    if (owner === undefined) {
      owners.set(module, entry.file);
      return checked;
    }
    const diagnostic = createNameDiagnostic(prepared, owner);
    return { ...checked, prepared: null, diagnostics: [diagnostic, ...checked.diagnostics] };
  });
}

function createNameDiagnostic({ descriptor, file, locate }: PreparedDescriptor, owner: string) {
  return createDiagnostic(
    {
      rule: 'duplicate-module',
      message: `module '${descriptor.module}' is already configured by ${owner}`,
      hint: 'rename or remove one of them',
      path: ['module'],
      at: 'value',
    },
    { file, locate },
  );
}
