import type { Mount } from '../descriptor/sections/mount.js';
import { isTransient } from '../document/transient-error.js';
import { digestText } from '../lib/hash.js';
import type { DirectoryFile } from '../watch/directory.js';
import {
  type DescriptorContext,
  type PreparedDescriptor,
  prepareDescriptor,
} from './prepare-descriptor.js';
import { explainError, type StateReason } from './state-reason.js';
import { UnpreparedDescriptor } from './unprepared-descriptor.js';

/** The current content of a descriptor file. */
export interface DescriptorSource {
  /** The module that the file configures; `null` if the name could not be read. */
  readonly name: string | null;
  /** The name under which the file should be served; `null` when it is disabled or unusable. */
  readonly wantedName: string | null;
  /** The digest of the text; `null` if the file could not be read. */
  readonly textDigest: string | null;
  /** `null` when the file is unusable. */
  readonly prepared: PreparedDescriptor | null;
  /** The reason why the file is unusable; `null` when it is usable. */
  readonly problem: StateReason | null;
  /** Whether the file may be usable soon, although it does not change. */
  readonly isTransient: boolean;
  /** The readable mounts; none of a disabled module. */
  readonly mounts: readonly Mount[];
  /** The absolute paths of all files that the descriptor names. */
  readonly files: readonly string[];
}

export const UNREAD_SOURCE: DescriptorSource = {
  name: null,
  wantedName: null,
  textDigest: null,
  prepared: null,
  problem: null,
  isTransient: false,
  mounts: [],
  files: [],
};

/** @param servedName the name to use if the name in the file cannot be read */
export async function readDescriptorSource(
  entry: DirectoryFile,
  context: DescriptorContext,
  servedName: string | null,
): Promise<DescriptorSource> {
  const textDigest = 'text' in entry ? digestText(entry.text) : null;
  try {
    const prepared = await prepareDescriptor(entry, context);
    const { files, descriptor } = prepared;
    const { module: name, enabled } = descriptor;
    const wantedName = enabled ? name : null;
    const mounts = enabled ? descriptor.mount : [];
    const usable = { prepared, problem: null, isTransient: false };
    return { name, wantedName, textDigest, ...usable, mounts, files };
  } catch (error) {
    if (!(error instanceof UnpreparedDescriptor)) throw error;
    const name = error.module ?? servedName;
    const problem = explainError(error.cause);
    const { files, mounts } = error;
    const unusable = { prepared: null, problem, isTransient: isTransient(error) };
    return { name, wantedName: null, textDigest, ...unusable, mounts, files };
  }
}
