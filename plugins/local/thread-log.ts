import { inspect } from 'node:util';
import type { Log, LogWrite } from '../../core/contract/index.js';
import type { ThreadMessage } from './thread-messages.js';

/** Lines on their way to the host; more are dropped and counted, so that a loop cannot fill its memory. */
const MAX_LINES_ON_THE_WAY = 1_000;

type Post = (message: ThreadMessage) => void;

/** `context.log` of a module in a thread: each line is sent to the host, which writes it. */
export class ThreadLog implements Log {
  readonly #post: Post;
  #onTheWay = 0;
  #dropped = 0;

  readonly debug: LogWrite = (fields, message) => this.#send('debug', fields, message);
  readonly info: LogWrite = (fields, message) => this.#send('info', fields, message);
  readonly warn: LogWrite = (fields, message) => this.#send('warn', fields, message);
  readonly error: LogWrite = (fields, message) => this.#send('error', fields, message);

  constructor(post: Post) {
    this.#post = post;
  }

  /** The host has written so many. */
  forget(lines: number): void {
    this.#onTheWay -= lines;
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.warn({ dropped }, 'logged too much: lines dropped');
  }

  #send(level: keyof Log, fields: Readonly<Record<string, unknown>>, message: string): void {
    if (this.#onTheWay >= MAX_LINES_ON_THE_WAY) {
      this.#dropped += 1;
      return;
    }
    this.#onTheWay += 1;
    const text = String(message);
    try {
      this.#post({ kind: 'log', level, fields, message: text });
    } catch {
      // A function, a promise and their like cannot be sent.
      this.#post({ kind: 'log', level, fields: { fields: inspect(fields) }, message: text });
    }
  }
}
