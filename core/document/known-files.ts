import { AsyncLocalStorage } from 'node:async_hooks';

/** The contents of files, by path. */
export type FileContents = ReadonlyMap<string, Buffer>;

interface KnownFilesOptions {
  /** The contents that other workers use. */
  readonly known: FileContents;
  /** Called with contents that this process uses. */
  readonly onUse: (contents: FileContents) => void;
  /** Called with the error because of which known contents are used. */
  readonly onFallback: (error: unknown) => void;
}

const NONE: KnownFilesOptions = { known: new Map(), onUse: () => {}, onFallback: () => {} };

/** Of this process: the files are read in many places. */
let options = NONE;
const fallback = new AsyncLocalStorage<true>();

/**
 * Lets a worker start with the contents that other workers use, where the files are invalid.
 * @returns ends that: from now on only the files count
 */
export function shareKnownFiles(shared: KnownFilesOptions): () => void {
  options = shared;
  return () => {
    options = { ...options, known: NONE.known };
  };
}

/** Reports contents that this process has accepted. */
export function reportFiles(contents: FileContents): void {
  if (contents.size > 0) options.onUse(contents);
}

/** The content to use in place of that of a file; `undefined` for that of the file. */
export function findKnownContent(path: string): Buffer | undefined {
  return fallback.getStore() === undefined ? undefined : options.known.get(path);
}

/**
 * Reads files, and once more with the contents that other workers use where the first time fails.
 * @throws the error of the first time
 */
export async function readKnownFiles<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (options.known.size === 0) throw error;
    const result = await fallback.run(true, read).catch(() => {
      throw error;
    });
    options.onFallback(error);
    return result;
  }
}
