import { hash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Log } from '../contract/index.js';
import { createFileDiagnostic, formatDiagnostic, InvalidFile } from '../document/diagnostic.js';
import { type FileContents, readKnownFiles, reportFiles } from '../document/known-files.js';
import { createEncodingError, FileError, readSmallFile } from '../document/read-file.js';
import { isTransient } from '../document/transient-error.js';
import { ConfigError } from '../errors.js';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import { type Fingerprint, isSame, takeFingerprint } from './fingerprint.js';
import { Settling } from './settling.js';
import { Watcher } from './watcher.js';

/** Less than two seconds together with the settle time. */
const FILE_POLL_MS = 1500;

interface CommonOptions<T> {
  readonly log: Log;
  /** The name in log messages: `tokens file`. */
  readonly name: string;
  /** Log fields for a new content. */
  readonly describe: (value: T) => Readonly<Record<string, unknown>>;
  /** Milliseconds between polls, default 1500. */
  readonly pollMs?: number | undefined;
}

interface ReloadOptions<T> extends CommonOptions<T> {
  /** @throws InvalidFile for an invalid text. */
  readonly parse: (file: string, text: string) => T | Promise<T>;
  /** Lists the files that `parse` reads. A change of one is noticed by a poll. Default: none. */
  readonly listFiles?: (file: string, text: string) => readonly string[];
}

interface ReloadFilesOptions<T> extends CommonOptions<T> {
  /**
   * @param contents in the order of the files
   * @throws InvalidFile or ConfigError for invalid contents.
   */
  readonly parse: (contents: readonly Buffer[]) => T | Promise<T>;
  readonly listFiles?: (contents: readonly Buffer[]) => readonly string[];
}

/**
 * Reads a text file and follows its changes. A content that is invalid, or that never settles, is
 * logged once, and the last good content stays.
 * @throws InvalidFile when the file is invalid or missing at startup.
 */
export function openReloadedFile<T>(
  file: string,
  { parse, listFiles, ...options }: ReloadOptions<T>,
): Promise<ReloadedFile<T>> {
  // Each poll asks again, mostly for the same text.
  let listed: { readonly text: string; readonly files: readonly string[] } | null = null;
  return openReloadedFiles([file], {
    ...options,
    listFiles: ([bytes = Buffer.alloc(0)]) => {
      const text = decodeUtf8(bytes) ?? '';
      if (listed?.text !== text) listed = { text, files: listFiles?.(file, text) ?? [] };
      return listed.files;
    },
    parse: ([bytes = Buffer.alloc(0)]) => {
      const text = decodeUtf8(bytes);
      if (text === null) throw createUnusableFile(file, createEncodingError(bytes));
      return parse(file, text);
    },
  });
}

/**
 * Opens files that are used together, like {@link openReloadedFile}.
 * @throws InvalidFile or ConfigError when one of the files is invalid or missing at startup.
 */
export async function openReloadedFiles<T>(
  files: readonly string[],
  options: ReloadFilesOptions<T>,
): Promise<ReloadedFile<T>> {
  const fingerprint = await takeFingerprint(files);
  const { content, current } = await readKnownFiles(async () => {
    const content = await readContent(files, options);
    return { content, current: await parseContent(content, options) };
  });
  reportFiles(content.files);
  const opened = new ReloadedFile(files, options, { fingerprint, key: content.key, current });
  await opened.start();
  return opened;
}

/** The content of files, kept up to date. */
export class ReloadedFile<T> {
  /** The number of accepted and rejected contents. */
  readonly reloads = { success: 0, failure: 0 };
  /** Called after a new content has replaced another one. */
  onChange: ((current: T, previous: T) => void) | null = null;
  readonly #files: readonly string[];
  readonly #options: ReloadFilesOptions<T>;
  readonly #watcher: Watcher;
  /** The names of the files and of what links lead to. */
  readonly #names = new Set<string>();
  #current: T;
  #currentKey: string;
  /** The key of the last accepted or rejected content. */
  #seenKey: string;
  #fingerprint: Fingerprint;
  #settling: Settling | null = null;
  #isBusy = false;

  constructor(
    files: readonly string[],
    options: ReloadFilesOptions<T>,
    first: { readonly fingerprint: Fingerprint; readonly key: string; readonly current: T },
  ) {
    const { log, pollMs } = options;
    this.#files = files;
    this.#options = options;
    this.#current = first.current;
    this.#currentKey = first.key;
    this.#seenKey = first.key;
    this.#fingerprint = first.fingerprint;
    this.#watcher = new Watcher({
      check: (isPoll) => this.#check(isPoll),
      names: this.#names,
      onError: (error) => log.error({ err: error, file: files[0] }, 'file watch failed'),
      pollMs: pollMs ?? FILE_POLL_MS,
    });
  }

  get current(): T {
    return this.#current;
  }

  async start(): Promise<void> {
    await this.#follow();
    this.#watcher.start();
  }

  /** An edit behind a symbolic link raises an event only in the folder of its target. */
  async #follow(): Promise<void> {
    const targets = this.#files.map((file) => realpath(file).catch(() => file));
    const paths = [...this.#files, ...(await Promise.all(targets))];
    this.#names.clear();
    for (const path of paths) this.#names.add(basename(path));
    this.#watcher.follow(paths.map((path) => dirname(path)));
  }

  /** Ends the watch; `current` stays. */
  close(): Promise<void> {
    return this.#watcher.close();
  }

  async #check(isPoll: boolean): Promise<number | null> {
    const fingerprint = await takeFingerprint(this.#files);
    if (!isSame(fingerprint, this.#fingerprint)) await this.#follow();
    // Other files of the folder cause events too. A poll reads the content in any case.
    const isEvent = !isPoll && this.#settling === null;
    if (isEvent && isSame(fingerprint, this.#fingerprint)) return null;
    const startedAt = performance.now();
    const content = await readContent(this.#files, this.#options);
    const endedAt = performance.now();
    const isBusy = isTransient(content.error);
    if (isBusy && !this.#isBusy) this.#warn('cannot be read at the moment');
    this.#isBusy = isBusy;
    if (isBusy) return null;
    this.#fingerprint = fingerprint;
    if (content.key === this.#seenKey) {
      this.#settling = null;
      return null;
    }
    this.#settling ??= new Settling(startedAt);
    if (!this.#settling.accepts(content.key, { startedAt, endedAt })) {
      if (this.#settling.takeWarning(endedAt)) this.#warn('keeps changing');
      return this.#settling.remainingMs(endedAt);
    }
    this.#settling = null;
    this.#seenKey = content.key;
    await this.#replace(content);
    return null;
  }

  async #replace(content: Content): Promise<void> {
    const { log, name, describe } = this.#options;
    const file = this.#files[0];
    if (content.key === this.#currentKey) {
      log.info({ file, ...describe(this.#current) }, `${name} is valid again`);
      return;
    }
    try {
      const previous = this.#current;
      this.#current = await parseContent(content, this.#options);
      this.#currentKey = content.key;
      reportFiles(content.files);
      this.reloads.success += 1;
      this.onChange?.(this.#current, previous);
      log.info({ file, ...describe(this.#current) }, `${name} reloaded`);
    } catch (error) {
      const reasons = listReasons(error);
      if (reasons === null) throw error;
      this.reloads.failure += 1;
      log.error({ file, reasons }, `${name} is invalid; keeping the last good content`);
    }
  }

  #warn(problem: string): void {
    const { log, name } = this.#options;
    log.warn({ file: this.#files[0] }, `${name} ${problem}; keeping the last good content`);
  }
}

interface Content {
  /** Equal for equal contents. */
  readonly key: string;
  readonly buffers: readonly Buffer[];
  /** Those that could be read, and of the files that `parse` reads. */
  readonly files: FileContents;
  /** The reason why a file cannot be read; `null` when all can. */
  readonly error: InvalidFile | null;
}

async function readContent(
  files: readonly string[],
  { listFiles }: Pick<ReloadFilesOptions<unknown>, 'listFiles'>,
): Promise<Content> {
  const buffers: Buffer[] = [];
  const contents = new Map<string, Buffer>();
  const read = async (file: string) => {
    const bytes = await readSmallFile(file);
    contents.set(file, bytes);
    return bytes;
  };
  try {
    for (const file of files) buffers.push(await readUsable(file, read));
    const keys = buffers.map((bytes) => hash('sha256', bytes));
    for (const file of listFiles?.(buffers) ?? []) keys.push(await readKey(file, read));
    return { key: keys.join(), buffers, files: contents, error: null };
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return { key: error.message, buffers, files: contents, error };
  }
}

type ReadFile = (file: string) => Promise<Buffer>;

/** An unreadable file is one content too: `parse` says what is wrong with it. */
async function readKey(file: string, read: ReadFile): Promise<string> {
  try {
    return hash('sha256', await read(file));
  } catch (error) {
    if (error instanceof FileError) return error.message;
    throw error;
  }
}

async function readUsable(file: string, read: ReadFile): Promise<Buffer> {
  try {
    return await read(file);
  } catch (error) {
    throw error instanceof FileError ? createUnusableFile(file, error) : error;
  }
}

function createUnusableFile(file: string, { code, message }: FileError): InvalidFile {
  return new InvalidFile([createFileDiagnostic(file, code, message)]);
}

async function parseContent<T>(content: Content, { parse }: ReloadFilesOptions<T>): Promise<T> {
  if (content.error !== null) throw content.error;
  return parse(content.buffers);
}

/** Returns `null` for an error in this program. */
function listReasons(error: unknown): readonly string[] | null {
  if (error instanceof InvalidFile) return error.diagnostics.map(formatDiagnostic);
  return error instanceof ConfigError ? [error.message] : null;
}
