import { inspect } from 'node:util';
import type { Log, LogWrite } from '../../core/contract/index.js';
import type { ThreadMessage } from './thread-messages.js';

/** Unacknowledged lines; more are dropped and counted, so that a loop cannot fill the memory of the host. */
const MAX_PENDING_LINES = 1_000;

type Post = (message: ThreadMessage) => void;

/** `context.log` of a module in a thread; sends each line to the host. */
export class ThreadLog implements Log {
  readonly #post: Post;
  #pending = 0;
  #dropped = 0;

  readonly debug: LogWrite = (fields, message) => this.#send('debug', fields, message);
  readonly info: LogWrite = (fields, message) => this.#send('info', fields, message);
  readonly warn: LogWrite = (fields, message) => this.#send('warn', fields, message);
  readonly error: LogWrite = (fields, message) => this.#send('error', fields, message);

  constructor(post: Post) {
    this.#post = post;
  }

  /** The host has written these lines. */
  acknowledge(lines: number): void {
    this.#pending -= lines;
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.warn({ dropped }, 'logged too much: lines dropped');
  }

  #send(level: keyof Log, fields: Readonly<Record<string, unknown>>, message: string): void {
    if (this.#pending >= MAX_PENDING_LINES) {
      this.#dropped += 1;
      return;
    }
    this.#pending += 1;
    const text = String(message);
    try {
      this.#post({ kind: 'log', level, fields, message: text });
    } catch {
      // Some values, such as functions and promises, cannot be sent.
      this.#post({ kind: 'log', level, fields: { fields: inspect(fields) }, message: text });
    }
  }
}
