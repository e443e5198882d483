import { listLearnedScopes } from '../../descriptor/sections/identity.js';
import { listToolNames } from '../../descriptor/sections/mcp.js';
import {
  findOuterMount,
  formatMount,
  type Mount,
  type MountedModule,
} from '../../descriptor/sections/mount.js';
import {
  createDiagnostic,
  createFileDiagnostic,
  type Diagnostic,
  InvalidFile,
  type Violation,
} from '../../document/diagnostic.js';
import {
  type DescriptorContext,
  type PreparedDescriptor,
  prepareDescriptor,
} from '../../modules/prepare-descriptor.js';
import { explainTaken, listClaimsOf } from '../../modules/settle-names.js';
import { explainError } from '../../modules/state-reason.js';
import { UnpreparedDescriptor } from '../../modules/unprepared-descriptor.js';
import { type DirectoryFile, type DirectoryListing, readDirectory } from '../../watch/directory.js';
import { checkExposed } from './check-exposed.js';
import { findUnusableRoutes } from './find-unusable-routes.js';

/** A descriptor that was validated like in a host, without opening a provider. */
export interface CheckedDescriptor {
  readonly entry: DirectoryFile;
  /** `null` if it cannot be read. */
  readonly module: string | null;
  /** `null` when a host would reject it. */
  readonly prepared: PreparedDescriptor | null;
  /** The readable mounts; none for a disabled module. */
  readonly mounts: readonly Mount[];
  /** Absolute paths of all files that the descriptor names, or the known ones if it is invalid. */
  readonly files: readonly string[];
  /** Diagnostics name the descriptor by its file name, and other files by their reference. */
  readonly diagnostics: readonly Diagnostic[];
}

interface CheckedFolder {
  readonly descriptors: readonly CheckedDescriptor[];
  readonly ignored: DirectoryListing['ignored'];
}

/**
 * Validates every descriptor of a folder, and rejects duplicate module names, mounts and tools.
 * @throws UnreadableDirectory for a folder that does not exist or cannot be read.
 */
export async function checkDescriptors(
  directory: string,
  context: DescriptorContext,
): Promise<CheckedFolder> {
  const { files, ignored } = await readDirectory(directory);
  const descriptors: CheckedDescriptor[] = [];
  for (const entry of files) descriptors.push(await checkDescriptor(entry, context));
  const usable = rejectDuplicates(descriptors);
  return { descriptors: warnOfForeignScopes(warnOfNestedMounts(usable)), ignored };
}

export async function checkDescriptor(
  entry: DirectoryFile,
  context: DescriptorContext,
): Promise<CheckedDescriptor> {
  try {
    const prepared = await prepareDescriptor(entry, context);
    const { descriptor, files, warnings } = prepared;
    const { module } = descriptor;
    const mounts = descriptor.enabled ? descriptor.mount : [];
    const ofExposed = checkExposed(prepared).map((warning) => createWarning(warning, prepared));
    const diagnostics = [...warnings, ...ofExposed, ...(await findUnusableRoutes(prepared))];
    return { entry, module, prepared, mounts, files, diagnostics };
  } catch (error) {
    if (!(error instanceof UnpreparedDescriptor)) throw error;
    const diagnostics = readDiagnostics(entry.file, error.cause);
    const { module, mounts, files } = error;
    return { entry, module, prepared: null, mounts, files, diagnostics };
  }
}

function readDiagnostics(file: string, cause: unknown): readonly Diagnostic[] {
  if (cause instanceof InvalidFile) return cause.diagnostics;
  const { reason, hint } = explainError(cause);
  return [{ ...createFileDiagnostic(file, 'unusable-descriptor', reason), hint }];
}

/** Keeps the first of two files with the same module name, mount or tool. Disabled files are exempt. */
function rejectDuplicates(descriptors: readonly CheckedDescriptor[]): CheckedDescriptor[] {
  const owners = new Map<string, string>();
  return descriptors.map((checked) => {
    const { entry, module, prepared } = checked;
    if (module === null || !prepared?.descriptor.enabled) return checked;
    const { descriptor } = prepared;
    const claims = listClaimsOf(descriptor);
    const duplicateIndex = claims.findIndex((claim) => owners.has(claim));
    if (duplicateIndex === -1) {
      for (const claim of claims) owners.set(claim, entry.file);
      return checked;
    }
    const claim = claims[duplicateIndex] ?? '';
    const { reason: message, hint } = explainTaken(claim, owners.get(claim) ?? '');
    const place = locateClaim(descriptor, duplicateIndex);
    const diagnostic = createDiagnostic({ ...place, message, hint, at: 'value' }, prepared);
    return { ...checked, prepared: null, diagnostics: [diagnostic, ...checked.diagnostics] };
  });
}

/** The place of a claim, by its index among those of the descriptor. */
function locateClaim({ mount, mcp }: PreparedDescriptor['descriptor'], index: number) {
  if (index === 0) return { rule: 'duplicate-module', path: ['module'] };
  if (index <= mount.length) return { rule: 'duplicate-mount', path: ['mount', index - 1] };
  const id = [...listToolNames(mcp).keys()][index - mount.length - 1] ?? '';
  return { rule: 'duplicate-tool', path: ['mcp', 'tools', id, 'name'] };
}

export function listMounts(
  described: readonly Pick<CheckedDescriptor, 'module' | 'mounts'>[],
): readonly MountedModule[] {
  return described.flatMap(({ module, mounts }) =>
    module === null ? [] : mounts.map((mount) => ({ module, mount })),
  );
}

/** Adds warnings about values of valid descriptors. */
function addWarnings(
  descriptors: readonly CheckedDescriptor[],
  find: (prepared: PreparedDescriptor, checked: CheckedDescriptor) => readonly Warning[],
): CheckedDescriptor[] {
  return descriptors.map((checked) => {
    const { prepared } = checked;
    if (prepared === null) return checked;
    const warnings = find(prepared, checked).map((warning) => createWarning(warning, prepared));
    return { ...checked, diagnostics: [...checked.diagnostics, ...warnings] };
  });
}

type Warning = Omit<Violation, 'at'>;

function createWarning(warning: Warning, prepared: PreparedDescriptor): Diagnostic {
  return createDiagnostic({ ...warning, at: 'value' }, prepared, 'warning');
}

/** Warns of a mount below that of another module, whose requests it handles. */
function warnOfNestedMounts(descriptors: readonly CheckedDescriptor[]): CheckedDescriptor[] {
  const all = listMounts(descriptors);
  return addWarnings(descriptors, (_prepared, { module, mounts }) =>
    mounts.flatMap((mount, index) => {
      const above = module === null ? undefined : findOuterMount({ module, mount }, all);
      if (above === undefined) return [];
      const [inner, other] = [formatMount(mount), formatMount(above.mount)];
      const message = `mount '${inner}' is below '${other}' of module '${above.module}' and replaces its paths`;
      const hint = 'make sure that this is intended';
      return { rule: 'nested-mount', message, hint, path: ['mount', index] };
    }),
  );
}

/** Warns of scopes that a provider learns by `modgate-identity` although another module has them. */
function warnOfForeignScopes(descriptors: readonly CheckedDescriptor[]): CheckedDescriptor[] {
  return addWarnings(descriptors, (prepared, checked) =>
    listLearned(prepared).flatMap((scope) => {
      const other = descriptors.find(
        (neighbor) => neighbor !== checked && listDeclared(neighbor).includes(scope),
      );
      if (other === undefined) return [];
      const message = `identity: the provider learns which callers have the scope '${scope}', which module '${other.module}' declares too`;
      const hint = 'bound what it learns with identity: {scopes: [PATTERN]}';
      return { rule: 'foreign-scope', message, hint, path: ['identity'] };
    }),
  );
}

/** Without those that the descriptor names, which its operator has seen. */
function listLearned({ descriptor: { identity }, manifest }: PreparedDescriptor): string[] {
  const named = typeof identity === 'boolean' ? [] : identity.scopes;
  const learned = listLearnedScopes(identity, manifest?.manifest.capabilities ?? []);
  return learned.filter((scope) => !named.includes(scope));
}

function listDeclared({ prepared }: CheckedDescriptor): readonly string[] {
  return prepared?.manifest?.manifest.capabilities ?? [];
}
