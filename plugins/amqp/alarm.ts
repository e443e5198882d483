import type { Log } from '../../core/contract/index.js';
import { escapeReason } from './broker-error.js';

/** A broker that repeatedly raises and clears its alarm cannot fill the log. */
const MAX_LINES = 20;
const WINDOW_MS = 60_000;

/** Whether a broker accepts messages. It does not under an alarm, such as for a full disk. */
export class Alarm {
  readonly #log: Log;
  #windowStart = Number.NEGATIVE_INFINITY;
  #lines = 0;
  /** Why the broker accepts no messages; `null` if it does. */
  reason: string | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** @param reason in the words of the broker; `null` at the end of the alarm */
  change(reason: string | null, broker: string): void {
    this.reason = reason === null ? null : escapeReason(reason);
    if (!this.#hasLine()) return;
    const fields = { broker, reason: this.reason };
    if (reason === null) this.#log.info(fields, 'RabbitMQ accepts messages again');
    else this.#log.warn(fields, 'RabbitMQ does not accept messages');
  }

  #hasLine(): boolean {
    const now = performance.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#lines = 0;
    }
    this.#lines += 1;
    return this.#lines <= MAX_LINES;
  }
}
