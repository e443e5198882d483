/**
 * Writes one JSON line: fields (`err` for an error), then a short lower-case message. Never pass a secret.
 * Does not throw and does not wait for the disk.
 */
export type LogWrite = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The host's log, at its level (`--log-level`, default `info`). */
export interface Log {
  /** Writes for the author of the plugin. */
  readonly debug: LogWrite;
  /** Writes for operators. */
  readonly info: LogWrite;
  /** Unexpected, but the work continues. */
  readonly warn: LogWrite;
  /** A failure that requires action. */
  readonly error: LogWrite;
}
