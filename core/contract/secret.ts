import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/**
 * A value that cannot be printed: every conversion to text returns `[redacted]`, except
 * {@link Secret.reveal}. Descriptors hold references (`env:NAME`, `file:PATH`), never values.
 */
export class Secret {
  readonly #value: string;

  /** Created by the host, and by tests. */
  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Call it where the bytes are sent, and keep no copy. */
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
