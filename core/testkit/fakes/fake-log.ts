import type { Log } from '../../contract/index.js';

/** One line as the adapter wrote it. */
export interface LogLine {
  /** The method that was called. */
  readonly level: keyof Log;
  /** As they were passed. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** As it was passed. */
  readonly message: string;
}

/** A log that keeps its lines. */
export interface FakeLog extends Log {
  /** In the order of writing. */
  readonly lines: readonly LogLine[];
}

/** A log that writes nowhere. */
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
