import type { Log, LogWrite } from '../../../core/contract/index.js';

export interface RecordedLine {
  readonly level: keyof Log;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A log that keeps its lines, in order. */
export function createRecordedLog(): { readonly log: Log; readonly lines: RecordedLine[] } {
  const lines: RecordedLine[] = [];
  const write =
    (level: keyof Log): LogWrite =>
    (fields, message) =>
      lines.push({ level, fields, message });
  const log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  return { log, lines };
}
