import { stat } from 'node:fs/promises';
import { isAbsolute, join, posix, resolve } from 'node:path';
import { InvalidFile } from '../../document/diagnostic.js';
import { FileError, readSmallFile } from '../../document/read-file.js';
import { type DescriptorContext, prepareDescriptor } from '../../modules/prepare-descriptor.js';
import {
  type InspectedDescriptor,
  inspectFolder,
  pinnedManifestPath,
} from '../../modules/releases/inspect-release.js';
import { findFilesProblem, type ReleaseFiles } from '../../modules/releases/release-files.js';
import { explainError } from '../../modules/state-reason.js';
import { UnpreparedDescriptor } from '../../modules/unprepared-descriptor.js';
import { CommandError } from '../command-error.js';
import { readRemoteManifest, writeManifestPath } from './pin-manifests.js';

/**
 * Collects the files of a release: descriptors, their manifests, and the files that they name.
 * @throws CommandError for a folder that cannot be a release.
 */
export async function collectRelease(
  folder: string,
  context: DescriptorContext,
): Promise<ReleaseFiles> {
  const { descriptors, diagnostics } = await inspectFolder(folder, context);
  if (diagnostics.length > 0) throw new CommandError(new InvalidFile(diagnostics).message);
  const files = new Map<string, Buffer>();
  for (const inspected of descriptors) {
    await requireCommandFiles(folder, inspected);
    for (const path of inspected.files) files.set(path, await readNamedFile(folder, path));
    await addDescriptor(inspected, files, context);
  }
  const problem = findFilesProblem(files);
  if (problem !== null) throw new CommandError(`${problem.path} ${problem.reason}`);
  return files;
}

/** The files of the folder that a command on the host names must be in the release. */
async function requireCommandFiles(
  folder: string,
  { entry, descriptor: { provider, configDescription }, files }: InspectedDescriptor,
): Promise<void> {
  const runsCommand = configDescription?.hostUses.some(({ kind }) => kind === 'command') === true;
  const { command, cwd = '.' } = provider.config as { command?: unknown; cwd?: string };
  if (!runsCommand || !Array.isArray(command)) return;
  for (const word of command.map(String)) {
    const path = posix.normalize(posix.join(cwd, word));
    if (isAbsolute(cwd) || isAbsolute(word) || files.includes(path)) continue;
    const status = await stat(join(folder, path)).catch(() => null);
    if (status?.isFile() !== true) continue;
    throw new CommandError(
      `${entry.file}: its command names '${word}', which the release does not hold: list it in watch`,
    );
  }
}

async function readNamedFile(folder: string, path: string): Promise<Buffer> {
  try {
    return await readSmallFile(resolve(folder, path));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new CommandError(`${path} ${error.message}`);
  }
}

async function addDescriptor(
  { entry, descriptor }: InspectedDescriptor,
  files: Map<string, Buffer>,
  context: DescriptorContext,
): Promise<void> {
  const { file, text } = entry;
  const { kind } = descriptor.manifest;
  const isLocal = kind === 'file' || kind === 'inline';
  if (isLocal || !descriptor.enabled) {
    files.set(file, Buffer.from(text));
    return;
  }
  const path = pinnedManifestPath(file);
  try {
    const manifest = await readRemoteManifest(
      // Manifests from a URL are requested without the credentials of the provider.
      await prepareDescriptor(entry, { ...context, allowsMissingSecrets: kind === 'url' }),
    );
    files.set(path, Buffer.from(manifest));
  } catch (error) {
    if (!(error instanceof UnpreparedDescriptor)) throw error;
    throw new CommandError(`${file}: ${explainError(error.cause).reason}`);
  }
  files.set(file, Buffer.from(writeManifestPath(file, text, `./${path}`)));
}
