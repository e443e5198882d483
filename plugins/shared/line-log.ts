import { StringDecoder } from 'node:string_decoder';
import type { LogWrite } from '../../core/contract/index.js';

/** Longer lines are cut. UTF-16 units. */
const MAX_LINE_LENGTH = 8_192;
/** Lines beyond it are dropped and counted, so that a loop cannot fill the disk. */
const MAX_LINES_PER_SECOND = 200;

/** Characters that a terminal would interpret. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;

/** Writes the output of a child to the log of the host, one entry per line. */
export class LineLog {
  readonly #write: LogWrite;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #decoder = new StringDecoder('utf8');
  #line = '';
  #isCut = false;
  #second = 0;
  #lines = 0;
  #dropped = 0;

  constructor(write: LogWrite, fields: Readonly<Record<string, unknown>>) {
    this.#write = write;
    this.#fields = fields;
  }

  push(chunk: Uint8Array): void {
    const parts = this.#decoder.write(Buffer.from(chunk)).split('\n');
    const rest = parts.pop() ?? '';
    for (const part of parts) {
      this.#append(part);
      this.#endLine();
    }
    this.#append(rest);
  }

  /** Writes the rest, including a last line without a line feed. */
  end(): void {
    this.#append(this.#decoder.end());
    if (this.#line !== '') this.#endLine();
    this.#reportDropped();
  }

  #append(text: string): void {
    const room = MAX_LINE_LENGTH - this.#line.length;
    if (text.length > room) this.#isCut = true;
    this.#line += text.slice(0, room);
  }

  #endLine(): void {
    const line = this.#line.replace(/\r$/, '').replace(CONTROL_CHARACTERS, '\ufffd');
    const cut = this.#isCut;
    this.#line = '';
    this.#isCut = false;
    if (this.#hasRoom()) this.#write({ ...this.#fields, line, ...(cut && { cut }) }, 'printed');
    else this.#dropped += 1;
  }

  #hasRoom(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#lines = 0;
      this.#reportDropped();
    }
    this.#lines += 1;
    return this.#lines <= MAX_LINES_PER_SECOND;
  }

  #reportDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#write({ ...this.#fields, dropped }, 'printed too much: lines dropped');
  }
}
