import { ConfigError } from '../errors.js';
import { InvalidFile } from './diagnostic.js';

/** The contents of files, by path. */
export type FileContents = ReadonlyMap<string, Buffer>;

interface SettingFilesOptions {
  /** The contents that other workers use. */
  readonly known: FileContents;
  /** Called with contents that this process uses. */
  readonly onUse: (contents: FileContents) => void;
  /** Called with the reason why known contents are used. */
  readonly onFallback: (reason: string) => void;
}

const NONE: SettingFilesOptions = { known: new Map(), onUse: () => {}, onFallback: () => {} };

/** Of this process: files of settings are read in many places. */
let options = NONE;
/** The number of running reads that use known contents. */
let fallbacks = 0;

/**
 * Lets a worker start with the contents that other workers use, where the files are invalid.
 * @returns ends that: from now on only the files count
 */
export function shareSettingFiles(shared: SettingFilesOptions): () => void {
  options = shared;
  return () => {
    options = { ...options, known: NONE.known };
  };
}

/** Reports contents that this process has accepted. */
export function reportSettingFiles(contents: FileContents): void {
  options.onUse(contents);
}

/** The content to use in place of that of a file; `undefined` for that of the file. */
export function findKnownContent(path: string): Buffer | undefined {
  return fallbacks === 0 ? undefined : options.known.get(path);
}

/**
 * Reads files of settings, and once more with the contents that other workers use where the files
 * are invalid.
 * @throws the error of `read` for the files
 */
export async function readSettingFiles<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isInvalid = error instanceof InvalidFile || error instanceof ConfigError;
    if (!isInvalid || options.known.size === 0) throw error;
    fallbacks += 1;
    try {
      const result = await read();
      options.onFallback(error.message);
      return result;
    } catch {
      throw error;
    } finally {
      fallbacks -= 1;
    }
  }
}
