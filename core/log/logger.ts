import { isatty } from 'node:tty';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import type { Log, LogWrite } from '../contract/log.js';
import { formatByStringify, formatTime } from './format-line.js';
import { LineBatch } from './line-batch.js';
import { redactFields } from './redact.js';
import { toTerminalLine } from './terminal-line.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** The host's own log: what plugins get, and the rest. */
export interface Logger extends Log {
  readonly trace: LogWrite;
  readonly fatal: LogWrite;
  /** False when a line of this level would go nowhere: then its fields need not be built. */
  isEnabled(level: Exclude<LogLevel, 'silent'>): boolean;
  /** A log whose lines all carry these fields. */
  child(fields: Readonly<Record<string, unknown>>): Logger;
  /**
   * Resolves when all lines are out, or after a second with a reader that does not read. What is logged
   * later is lost.
   */
  close(): Promise<void>;
}

/** Takes bytes: pino's types know it with texts alone. */
type Stdout = Omit<ReturnType<typeof pino.destination>, 'write'> & {
  write(bytes: Buffer): boolean;
};

interface Sink {
  readonly stream: DestinationStream;
  close(): Promise<void>;
}

const STDOUT = 1;
const CLOSE_TIMEOUT_MS = 1000;
// A reader of stdout that stands still must not stop the host, nor fill its memory.
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** PIPE_BUF of pipe(7): a longer write to a pipe may be torn by one of another process. */
const ATOMIC_WRITE_BYTES = 4096;

/**
 * Logs to stdout: JSON lines, or text for people when it is a terminal. `isShared`: other processes write
 * to it too.
 */
export async function openLog(level: LogLevel, { isShared = false } = {}): Promise<Logger> {
  if (isatty(STDOUT)) return createLog(level, await openTerminal());
  const maxWrite = isShared ? ATOMIC_WRITE_BYTES : undefined;
  const stdout = createStdout(maxWrite);
  const log = createLog(level, createSink(stdout, maxWrite));
  reportDropped(stdout, log);
  return log;
}

/** Logs to any stream, one JSON line a write. */
export function createLog(level: LogLevel, sink: Sink): Logger {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: formatTime,
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      // redactFields has made plain data of it.
      serializers: { err: (error) => error },
    },
    sink.stream,
  );
  formatByStringify(logger);
  return wrap(logger, () => sink.close());
}

function wrap(logger: PinoLogger, close: () => Promise<void>): Logger {
  const write = (level: Exclude<LogLevel, 'silent'>): LogWrite => logger[level].bind(logger);
  return {
    trace: write('trace'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    isEnabled: (level) => logger.isLevelEnabled(level),
    child: (fields) => wrap(logger.child(redactFields({ ...fields })), close),
    close,
  };
}

/** Asynchronous, so that a full pipe holds up no request. */
function createStdout(maxWrite: number | undefined): Stdout {
  const stream = pino.destination({
    dest: STDOUT,
    sync: false,
    contentMode: 'buffer',
    minLength: 0,
    maxLength: MAX_BUFFERED_BYTES,
    ...(maxWrite !== undefined && { maxWrite }),
  });
  // A full disk or a reader that has gone costs the lines, not the host.
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
    log.warn({ lines }, 'log lines were dropped: nobody read them in time');
  });
}

function createSink(stdout: Stdout, maxBytes: number | undefined): Sink {
  const batch = new LineBatch((lines) => stdout.write(lines), maxBytes);
  const flush = () => batch.flush();
  // Whatever ends the process, its last lines say why; pino then writes out what SonicBoom still has.
  process.prependOnceListener('exit', flush);
  let closed: Promise<void> | undefined;
  // SonicBoom throws at a write after its end, and that into whoever logs.
  const write = (line: string) => {
    if (closed === undefined) batch.add(line);
  };
  const close = () => {
    if (closed === undefined) {
      batch.flush();
      process.off('exit', flush);
      closed = endStream(stdout);
    }
    return closed;
  };
  return { stream: { write }, close };
}

function endStream(stdout: Stdout): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      // SonicBoom's flush at exit tries for ever to write what cannot be written. (Where the reader has
      // gone, pino has made this do nothing, and no 'close' will come.)
      stdout.destroy();
      resolve();
    }, CLOSE_TIMEOUT_MS);
    stdout.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    stdout.end();
  });
}

async function openTerminal(): Promise<Sink> {
  const { default: pretty } = await import('pino-pretty');
  const text = pretty({ sync: true, translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  const write = (line: string) => text.write(toTerminalLine(line));
  return { stream: { write }, close: async () => {} };
}

/** The log, with these fields before those of each line; a line may say otherwise. */
export function withFields(log: Log, added: Readonly<Record<string, unknown>>): Log {
  return {
    debug: (fields, message) => log.debug({ ...added, ...fields }, message),
    info: (fields, message) => log.info({ ...added, ...fields }, message),
    warn: (fields, message) => log.warn({ ...added, ...fields }, message),
    error: (fields, message) => log.error({ ...added, ...fields }, message),
  };
}
