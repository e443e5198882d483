/** Writes one JSON line. Fields first, then a short lower-case message; secrets are never passed. */
export type LogWrite = (fields: Readonly<Record<string, unknown>>, message: string) => void;

export interface Log {
  readonly debug: LogWrite;
  readonly info: LogWrite;
  readonly warn: LogWrite;
  readonly error: LogWrite;
}
