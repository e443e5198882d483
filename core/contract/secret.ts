import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/**
 * A value that cannot be printed: every way to turn it into text gives `[redacted]`, except
 * {@link Secret.reveal}. Descriptors hold references (`env:NAME`, `file:PATH`), never values.
 */
export class Secret {
  readonly #value: string;

  /** Takes the value over; the host makes them, and tests do. */
  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Call it where the bytes go out, and keep no copy. */
  reveal(): string {
    return this.#value;
  }

  /** `[redacted]`. */
  toString(): string {
    return REDACTED;
  }

  /** `[redacted]`. */
  toJSON(): string {
    return REDACTED;
  }

  /** `[redacted]`. */
  [inspect.custom](): string {
    return REDACTED;
  }
}
