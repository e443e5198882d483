import { isatty } from 'node:tty';
import { pino } from 'pino';
import type { Log, LogWrite } from '../contract/log.js';
import { type Mask, mayBeCut } from '../lib/secrets/mask-secrets.js';
import { formatLine, readWritten } from './format-line.js';
import { redactFields } from './redact.js';
import { toTerminalLine } from './terminal-line.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** The host's own log, with more methods than the log of plugins. */
export interface Logger extends Log {
  readonly trace: LogWrite;
  readonly fatal: LogWrite;
  /** Writes a line of level `info` whatever the level of the log, for programs that wait for it. */
  readonly announce: LogWrite;
  /** False if lines of this level are not written, so that their fields need not be built. */
  isEnabled(level: Exclude<LogLevel, 'silent'>): boolean;
  /** Returns a log that adds these fields to every line. */
  child(fields: Readonly<Record<string, unknown>>): Logger;
  /**
   * Resolves when all lines are written, or after a second if the reader of stdout does not read. Later
   * lines are lost.
   */
  close(): Promise<void>;
}

/** Accepts bytes; pino's types only mention strings. */
type Stdout = Omit<ReturnType<typeof pino.destination>, 'write'> & {
  write(bytes: Buffer): boolean;
};

interface Sink {
  /** @param line without its line feed */
  write(line: string): void;
  close(): Promise<void>;
}

const STDOUT = 1;
const CLOSE_TIMEOUT_MS = 1000;
// A reader of stdout that stops must neither block the host nor fill its memory.
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** PIPE_BUF of pipe(7): longer writes to a pipe may interleave with those of other processes. */
const ATOMIC_WRITE_BYTES = 4096;

/**
 * Logs to stdout: JSON lines, or readable text on a terminal. `isShared`: other processes write to it too.
 */
export async function openLog(level: LogLevel, { isShared = false } = {}): Promise<Logger> {
  if (isatty(STDOUT)) return createLog(level, await openTerminal());
  const maxWrite = isShared ? ATOMIC_WRITE_BYTES : undefined;
  const stdout = createStdout(maxWrite);
  const log = createLog(level, createSink(stdout, maxWrite));
  reportDropped(stdout, log);
  return log;
}

/** Logs to any stream, one JSON line per write. */
export function createLog(level: LogLevel, sink: Sink): Logger {
  return createLogger(level, {}, sink);
}

function createLogger(
  level: LogLevel,
  bindings: Readonly<Record<string, unknown>>,
  sink: Sink,
): Logger {
  const isEnabled: Logger['isEnabled'] = (lineLevel) =>
    LOG_LEVELS.indexOf(lineLevel) >= LOG_LEVELS.indexOf(level);
  const writeAt =
    (lineLevel: Exclude<LogLevel, 'silent'>): LogWrite =>
    (fields, message) =>
      sink.write(formatLine(lineLevel, bindings, fields, message));
  const write = (lineLevel: Exclude<LogLevel, 'silent'>): LogWrite =>
    isEnabled(lineLevel) ? writeAt(lineLevel) : () => {};
  return {
    trace: write('trace'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    announce: writeAt('info'),
    isEnabled,
    child: (fields) => createLogger(level, { ...bindings, ...redactFields({ ...fields }) }, sink),
    close: () => sink.close(),
  };
}

/** Asynchronous, so that a full pipe does not block requests. */
function createStdout(maxWrite: number | undefined): Stdout {
  const stream = pino.destination({
    dest: STDOUT,
    sync: false,
    contentMode: 'buffer',
    minLength: 0,
    maxLength: MAX_BUFFERED_BYTES,
    ...(maxWrite !== undefined && { maxWrite }),
  });
  // A full disk or a closed pipe loses lines; it must not end the host.
  stream.on('error', () => {});
  return stream as unknown as Stdout;
}

function reportDropped(stdout: Stdout, log: Logger): void {
  let dropped = 0;
  stdout.on('drop', (lines: Buffer) => {
    dropped += lines.toString('latin1').split('\n').length - 1;
  });
  stdout.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    log.warn({ lines }, 'log lines dropped: stdout was not read in time');
  });
}

function createSink(stdout: Stdout, maxBytes: number | undefined): Sink {
  const batch = new LineBatch((lines) => writeOrLose(stdout, lines), maxBytes);
  // Later errors of a closed pipe do not reach the stream: pino makes its methods do nothing.
  const readerLeft = new Promise<void>((resolve) => {
    stdout.on('error', ({ code }) => {
      if (code === 'EPIPE') resolve();
    });
  });
  const flush = () => batch.flush();
  // The last lines contain the reason for the exit; pino then flushes its own buffer.
  process.prependOnceListener('exit', flush);
  let closed: Promise<void> | undefined;
  // pino's stream throws on a write after its end.
  const write = (line: string) => {
    if (closed === undefined) batch.add(line);
  };
  const close = () => {
    if (closed === undefined) {
      batch.flush();
      process.off('exit', flush);
      closed = endStream(stdout, readerLeft);
    }
    return closed;
  };
  return { write, close };
}

/** Lines are written by a timer, where an error would end the host. */
function writeOrLose<T>(destination: { write(lines: T): unknown }, lines: T): void {
  try {
    destination.write(lines);
  } catch {
    // A log that cannot be written has no place to report that.
  }
}

function endStream(stdout: Stdout, readerLeft: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      // Otherwise pino's flush at exit would retry forever.
      stdout.destroy();
      resolve();
    };
    const timer = setTimeout(finish, CLOSE_TIMEOUT_MS);
    stdout.once('close', finish);
    void readerLeft.then(finish);
    stdout.end();
  });
}

async function openTerminal(): Promise<Sink> {
  const { default: pretty } = await import('pino-pretty');
  const text = pretty({ sync: true, translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  const write = (line: string) => writeOrLose(text, `${toTerminalLine(line)}\n`);
  return { write, close: async () => {} };
}

/** Returns a log that adds these fields to every line; fields of the line take precedence. */
export function withFields(log: Log, added: Readonly<Record<string, unknown>>): Log {
  const writeAt =
    (level: keyof Log): LogWrite =>
    (written, text) => {
      const [fields, message] = readWritten(written, text);
      log[level](Object.assign({}, added, fields), message);
    };
  return createLevels(writeAt);
}

/**
 * Removes secrets from all texts of a line, such as those that a process prints, which may be cut, and of its errors.
 */
export function withMask(log: Log, mask: Mask): Log {
  const writeAt =
    (level: keyof Log): LogWrite =>
    (written, text) => {
      const [fields, message] = readWritten(written, text);
      const plain = redactFields({ ...(fields as object | null) });
      log[level](maskTexts(plain, mask) as typeof fields, maskTexts(message, mask) as string);
    };
  return createLevels(writeAt);
}

function createLevels(writeAt: (level: keyof Log) => LogWrite): Log {
  return {
    debug: writeAt('debug'),
    info: writeAt('info'),
    warn: writeAt('warn'),
    error: writeAt('error'),
  };
}

/** @param value as `redactFields` leaves it, which limits its depth */
function maskTexts(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value, mayBeCut(value));
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => maskTexts(item, mask));
  if (typeof Reflect.get(value, 'toJSON') === 'function') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, maskTexts(member, mask)]),
  );
}

/** Limits the delay of a line, and the loss in a crash of the machine. */
const MAX_DELAY_MS = 20;
const LINE_FEED = 0x0a;
/** Capacity of a pipe on Linux. */
const MAX_BYTES = 65_536;

/**
 * Batches the lines of some milliseconds, because a system call is the largest part of the cost of a line.
 * Kept as bytes, since the garbage collector would copy waiting strings.
 */
export class LineBatch {
  readonly #write: (lines: Buffer) => void;
  readonly #bytes: Buffer;
  #used = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxBytes limit for each write; only a single longer line exceeds it */
  constructor(write: (lines: Buffer) => void, maxBytes = MAX_BYTES) {
    this.#write = write;
    this.#bytes = Buffer.alloc(maxBytes);
  }

  /** @param line without its line feed, which would copy it once more */
  add(line: string): void {
    const length = Buffer.byteLength(line) + 1;
    if (this.#used + length > this.#bytes.length) this.flush();
    if (length > this.#bytes.length) {
      this.#write(Buffer.from(`${line}\n`));
      return;
    }
    this.#used += this.#bytes.write(line, this.#used);
    this.#used = this.#bytes.writeUInt8(LINE_FEED, this.#used);
    // Unreferenced: the process flushes when it exits.
    this.#timer ??= setTimeout(() => this.flush(), MAX_DELAY_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used === 0) return;
    const lines = Buffer.from(this.#bytes.subarray(0, this.#used));
    this.#used = 0;
    this.#write(lines);
  }
}
