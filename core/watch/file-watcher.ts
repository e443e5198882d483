import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';

export interface FileWatch {
  /** Resolves when no look is under way and none will follow. */
  close(): Promise<void>;
}

/** A poll finds what raises no event: an edit behind a symbolic link, a network drive (design 4). */
export const FILE_POLL_MS = 2000;

// An editor raises several events a save, the first of them before the text is whole.
const SETTLE_MS = 100;

/**
 * Calls `look` now and then: soon after any event in the folder of the file, and every `pollMs`. Only one
 * look at a time; `look` must not throw, and finds out by itself whether the content is new.
 */
export function watchFile(
  file: string,
  look: () => Promise<void>,
  pollMs: number = FILE_POLL_MS,
): FileWatch {
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  let settling: NodeJS.Timeout | undefined;
  const run = () => {
    running = running.then(() => (isClosed ? undefined : look()));
  };
  const hint = () => {
    clearTimeout(settling);
    settling = setTimeout(run, Math.min(SETTLE_MS, pollMs)).unref();
  };
  const poll = setInterval(run, pollMs).unref();
  const watcher = openWatcher(dirname(file), hint);
  return {
    close: () => {
      isClosed = true;
      clearInterval(poll);
      clearTimeout(settling);
      watcher?.close();
      return running;
    },
  };
}

/** `null` where the system has no watches left: the poll does without. */
function openWatcher(directory: string, hint: () => void): FSWatcher | null {
  try {
    const watcher = watch(directory, { persistent: false }, hint);
    return watcher.on('error', () => watcher.close());
  } catch {
    return null;
  }
}
