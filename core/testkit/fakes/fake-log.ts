import type { Log } from '../../contract/index.js';

/** One line written by the adapter. */
export interface LogLine {
  /** The method that was called. */
  readonly level: keyof Log;
  /** The fields as passed. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The message as passed. */
  readonly message: string;
}

/** A log that records its lines. */
export interface FakeLog extends Log {
  /** The lines, in the order of writing. */
  readonly lines: readonly LogLine[];
}

/** Creates a log without output. */
export function createFakeLog(): FakeLog {
  const lines: LogLine[] = [];
  const write =
    (level: keyof Log): Log['info'] =>
    (fields, message) => {
      lines.push({ level, fields, message });
    };
  return {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
}
