import { formatDiagnostic, InvalidFile } from '../../document/diagnostic.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import {
  type PreparedDescriptor,
  prepareDescriptor,
  UnpreparedDescriptor,
} from '../../modules/prepare-descriptor.js';
import { findImportProblems } from '../../modules/releases/find-import-problems.js';
import {
  findMissingFiles,
  type InspectedDescriptor,
  inspectFolder,
} from '../../modules/releases/inspect-release.js';
import { decodeFiles, type ReleaseFiles } from '../../modules/releases/release-files.js';
import { ReleaseFolder } from '../../modules/releases/release-folder.js';
import { explainError } from '../../modules/state-reason.js';
import type { CanaryRule, ReleaseContent } from '../../store/releases/releases.js';
import type { HostReleases } from './host-releases.js';

const MAX_ERRORS = 100;

/** A module of a release. */
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
  inspect(): Promise<readonly InspectedDescriptor[]>;
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
  work: (release: OpenedRelease) => Promise<T>,
): Promise<T> {
  return new ReleaseFolder(host.stateDir).withFiles(files, (folder) => {
    let inspected: Promise<readonly InspectedDescriptor[]> | undefined;
    const inspect = () => {
      inspected ??= inspectRelease(host, files, folder);
      return inspected;
    };
    return work({
      inspect,
      check: async () => {
        const descriptors = await inspect();
        const { modules, errors } = await prepareModules(host, descriptors);
        const all = [...errors, ...(await findImportProblems(folder, files, descriptors))];
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
): Promise<readonly InspectedDescriptor[]> {
  const inspection = await inspectFolder(folder, context);
  const errors: ErrorDetail[] = [
    ...inspection.diagnostics.map((diagnostic) => ({
      field: diagnostic.file,
      reason: formatDiagnostic(diagnostic),
    })),
    ...findMissingFiles(inspection, (path) => files.has(path)).map(({ file, path }) => {
      return { field: file, reason: `names the file '${path}', which the release does not have` };
    }),
    ...inspection.descriptors.flatMap(({ entry, descriptor: { manifest } }) => {
      const isPinned = manifest.kind === 'file' || manifest.kind === 'inline';
      return isPinned ? [] : [{ field: entry.file, reason: 'its manifest must be a file' }];
    }),
  ];
  if (errors.length > 0) throw createInvalid(errors);
  return inspection.descriptors;
}

/** Inspects a stored release. Omits descriptors that this version rejects. */
export function inspectStored(
  { stateDir, context }: HostReleases,
  release: ReleaseContent | null,
): Promise<readonly InspectedDescriptor[]> {
  if (release === null) return Promise.resolve([]);
  return new ReleaseFolder(stateDir).withFiles(decodeFiles(release.content), async (folder) => {
    return (await inspectFolder(folder, context)).descriptors;
  });
}

/** Prepares the modules of a stored release that this version accepts. */
export function prepareStored(host: HostReleases, { content }: ReleaseContent) {
  return new ReleaseFolder(host.stateDir).withFiles(decodeFiles(content), async (folder) => {
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
      errors.push(...describeError(entry.file, error.cause));
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
