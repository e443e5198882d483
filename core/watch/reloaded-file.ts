import { hash } from 'node:crypto';
import type { Log } from '../contract/index.js';
import { formatDiagnostic, InvalidFile } from '../document/diagnostic.js';
import { readFileText } from '../document/read-file.js';
import { watchFile } from './file-watcher.js';

/** What a file says, kept up to date. */
export interface ReloadedFile<T> {
  readonly current: T;
  /** Ends the watch; what was read goes on being known. */
  close(): Promise<void>;
}

export interface ReloadOptions<T> {
  readonly log: Log;
  /** For log lines: `tokens file`. */
  readonly name: string;
  /** @throws InvalidFile for a text that cannot be used. */
  readonly parse: (file: string, text: string) => T | Promise<T>;
  /** What the log says of a new content. */
  readonly describe: (value: T) => Readonly<Record<string, unknown>>;
  /** Called when a new content has taken the place of another. */
  readonly onReplaced?: (previous: T) => void;
  /** Between two looks at the file. Milliseconds, default 2000. */
  readonly pollMs?: number | undefined;
}

/** Stands for the digest of a file that cannot be read. */
const UNREADABLE = 'unreadable';

/**
 * Reads a file and follows its changes. A content that turns bad, or a file that vanishes, is logged once
 * and changes nothing: the last good one stays.
 * @throws InvalidFile when the file is bad, or missing, now.
 */
export async function openReloadedFile<T>(
  file: string,
  options: ReloadOptions<T>,
): Promise<ReloadedFile<T>> {
  const { log, name, parse, describe } = options;
  const first = await readFileText(file);
  let current = await parse(file, first);
  let seen = hash('sha256', first);
  const look = async () => {
    let now = UNREADABLE;
    try {
      const text = await readFileText(file);
      now = hash('sha256', text);
      if (now === seen) return;
      const previous = current;
      current = await parse(file, text);
      options.onReplaced?.(previous);
      log.info({ file, ...describe(current) }, `the ${name} was read again`);
    } catch (error) {
      if (!(error instanceof InvalidFile)) throw error;
      if (now === seen) return;
      const reasons = error.diagnostics.map(formatDiagnostic);
      log.error({ file, reasons }, `the ${name} is bad; the last good one is kept`);
    } finally {
      seen = now;
    }
  };
  const watch = watchFile(file, look, options.pollMs);
  return {
    get current() {
      return current;
    },
    close: () => watch.close(),
  };
}
