/**
 * Writes one JSON line. Fields first (`err` for an error), then a short lower-case message; secrets are never
 * passed. Never throws and does not wait for the disk.
 */
export type LogWrite = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The host's log, at its level (`--log-level`, default `info`). */
export interface Log {
  /** For those who write the plugin. */
  readonly debug: LogWrite;
  /** What ops may want to know. */
  readonly info: LogWrite;
  /** Something is not as it should be, and goes on. */
  readonly warn: LogWrite;
  /** Something failed that somebody has to mend. */
  readonly error: LogWrite;
}
