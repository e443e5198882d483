import { formatDiagnostic, InvalidFile } from '../../document/diagnostic.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import { nextTurn } from '../../lib/slices.js';
import { type PreparedDescriptor, prepareDescriptor } from '../../modules/prepare-descriptor.js';
import { findImportProblems } from '../../modules/releases/find-import-problems.js';
import {
  findMissingFiles,
  type InspectedDescriptor,
  inspectFolder,
} from '../../modules/releases/inspect-release.js';
import type { InspectedRelease, StoredSecrets } from '../../modules/releases/needs-code.js';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import { ReleaseFolder } from '../../modules/releases/release-folder.js';
import { readPlaces } from '../../modules/releases/release-places.js';
import { explainError } from '../../modules/state-reason.js';
import { UnpreparedDescriptor } from '../../modules/unprepared-descriptor.js';
import type { CanaryRule } from '../../store/releases/releases.js';
import type { HostReleases } from './host-releases.js';

const MAX_ERRORS = 100;

export interface ReleaseModule {
  /** A digest of the descriptor and the files that it names. */
  readonly digest: string;
  readonly seconds: number;
  readonly rule: CanaryRule;
}

/** The rule of a canary for modules whose descriptor has none. */
const DEFAULT_PROBATION = { seconds: 30, max_error_rate: 0.05, min_calls: 10 };

/** A release whose files are in a folder. */
interface OpenedRelease {
  /**
   * Parses the descriptors before anything that they name is read.
   * @throws HostError 400 for descriptors that are invalid in themselves.
   */
  inspect(): Promise<InspectedRelease>;
  /**
   * Validates the release as `modgate check` does, without the values of secrets.
   * @throws HostError 400.
   */
  check(): Promise<ReadonlyMap<string, ReleaseModule>>;
}

/** Writes the files of a release into a folder until the work ends. */
export function withRelease<T>(
  host: HostReleases,
  files: ReleaseFiles,
  stored: StoredSecrets,
  work: (release: OpenedRelease) => Promise<T>,
): Promise<T> {
  return new ReleaseFolder(host.stateDir).withFiles(files, (folder) => {
    let inspected: Promise<InspectedRelease> | undefined;
    const inspect = () => {
      inspected ??= inspectRelease(host, files, folder, stored);
      return inspected;
    };
    return work({
      inspect,
      check: async () => {
        const { descriptors } = await inspect();
        const { modules, errors } = await prepareModules(host, descriptors);
        const all = [...errors, ...(await findImportProblems(folder, descriptors))];
        if (all.length > 0) throw createInvalid(all);
        return modules;
      },
    });
  });
}

async function inspectRelease(
  { context }: HostReleases,
  files: ReleaseFiles,
  folder: string,
  stored: StoredSecrets,
): Promise<InspectedRelease> {
  const inspection = await inspectFolder(folder, context);
  const errors: ErrorDetail[] = [
    ...inspection.diagnostics.map((diagnostic) => ({
      field: diagnostic.file,
      reason: formatDiagnostic(diagnostic),
    })),
    ...findMissingFiles(inspection, (path) => files.has(path)).map(({ file, path }) => {
      return { field: file, reason: `names the file '${path}', which the release does not have` };
    }),
    ...inspection.descriptors.flatMap(({ entry, descriptor: { enabled, manifest } }) => {
      const isPinned = !enabled || manifest.kind === 'file' || manifest.kind === 'inline';
      return isPinned ? [] : [{ field: entry.file, reason: 'its manifest must be a file' }];
    }),
  ];
  if (errors.length > 0) throw createInvalid(errors);
  const { descriptors } = inspection;
  const places = await readPlaces(descriptors, context, (module) => stored.has(module));
  return { descriptors, files, places };
}

/** Inspects a stored release. Omits descriptors that this version rejects. */
export function inspectStored(
  { stateDir, context }: HostReleases,
  files: ReleaseFiles,
  stored: StoredSecrets,
): Promise<InspectedRelease> {
  return new ReleaseFolder(stateDir).withFiles(files, async (folder) => {
    const { descriptors } = await inspectFolder(folder, context);
    const places = await readPlaces(descriptors, context, (module) => stored.has(module));
    return { descriptors, files, places };
  });
}

/** Prepares the modules of a stored release that this version accepts. */
export function prepareStored(host: HostReleases, files: ReleaseFiles) {
  return new ReleaseFolder(host.stateDir).withFiles(files, async (folder) => {
    const { descriptors } = await inspectFolder(folder, host.context);
    return await prepareModules(host, descriptors);
  });
}

async function prepareModules(
  { context }: HostReleases,
  descriptors: readonly InspectedDescriptor[],
) {
  const modules = new Map<string, ReleaseModule>();
  const prepared: PreparedDescriptor[] = [];
  const errors: ErrorDetail[] = [];
  for (const { entry } of descriptors) {
    await nextTurn();
    try {
      const one = await prepareDescriptor(entry, { ...context, allowsMissingSecrets: true });
      prepared.push(one);
      const { descriptor, inputDigest } = one;
      const { module, probation, enabled } = descriptor;
      if (modules.has(module)) {
        errors.push({ field: entry.file, reason: 'another descriptor has its module name' });
      }
      const { seconds, ...rule } = probation ?? DEFAULT_PROBATION;
      if (enabled) modules.set(module, { digest: inputDigest, seconds, rule });
    } catch (error) {
      if (!(error instanceof UnpreparedDescriptor)) throw error;
      const further = describeError(entry.file, error.cause);
      errors.push(...further.slice(0, Math.max(0, MAX_ERRORS - errors.length)));
    }
  }
  return { modules, prepared, errors };
}

function describeError(file: string, cause: unknown): readonly ErrorDetail[] {
  if (!(cause instanceof InvalidFile)) {
    return [{ field: file, reason: explainError(cause).reason }];
  }
  return cause.diagnostics.map((diagnostic) => ({
    field: diagnostic.file,
    reason: formatDiagnostic(diagnostic),
  }));
}

function createInvalid(errors: readonly ErrorDetail[]): HostError {
  return new HostError('validation_failed', 'the release is not valid', {
    errors: errors.slice(0, MAX_ERRORS),
    nextActions: ["run 'modgate check' on the folder"],
  });
}
