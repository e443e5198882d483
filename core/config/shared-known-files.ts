import { LRUCache } from 'lru-cache';
import { type FileContents, shareKnownFiles } from '../document/known-files.js';
import type { SharedService } from '../processes.js';

/** The total size of the contents, of which files of removed modules are a part. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The contents of the files that the workers use, so that a replacement of a worker starts and
 * serves although a file is invalid meanwhile. The client is called when the process has started.
 */
export const SHARED_KNOWN_FILES: SharedService<() => void> = {
  name: 'known-files',
  createLocal: () => () => {},
  createClient: (link, known, { log }) =>
    shareKnownFiles({
      known: known as FileContents,
      onUse: (contents) => link.send(contents),
      onFallback: (err) => log.warn({ err }, 'files are invalid; using those of the other workers'),
    }),
  createPrimary: () => {
    const known = new LRUCache<string, Buffer>({
      maxSize: MAX_BYTES,
      sizeCalculation: ({ length }) => length + 1,
    });
    return {
      // A rolling restart reads the files, and ends at settings that are invalid.
      start: ({ isSuccessor }) => new Map(isSuccessor ? [] : known.entries()),
      receive: (contents) => {
        for (const [path, content] of contents as FileContents) known.set(path, content);
      },
    };
  },
};
