import { StringDecoder } from 'node:string_decoder';
import { createTooLong } from './exchange.js';

/** Names and comments of lines beside the data of an event. Characters. */
const MAX_EXTRA_LENGTH = 1_024;

export interface ServerEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads Server-Sent Events with a bound for each. */
export class EventReader {
  readonly #maxBytes: number;
  readonly #decoder = new StringDecoder('utf8');
  /** The parts of the line that has not ended. */
  #pieces: string[] = [];
  /** The length of the event so far, without the last line. */
  #length = 0;
  #pieceLength = 0;
  #endsInReturn = false;
  #id: string | undefined;
  #data: string[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws ProviderFailure for an event that is too long. */
  push(part: Uint8Array): readonly ServerEvent[] {
    let text = this.#decoder.write(Buffer.from(part.buffer, part.byteOffset, part.length));
    if (this.#endsInReturn && text.startsWith('\n')) text = text.slice(1);
    if (text !== '') this.#endsInReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? '';
    const events: ServerEvent[] = [];
    for (const line of lines) {
      this.#pieces.push(line);
      this.#readLine(this.#pieces.join(''), events);
      this.#pieces = [];
      this.#pieceLength = 0;
    }
    this.#pieces.push(rest);
    this.#pieceLength += rest.length;
    this.#assertLength();
    return events;
  }

  #readLine(line: string, events: ServerEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0 || this.#id !== undefined) {
        events.push({ id: this.#id, data: this.#data.join('\n') });
      }
      this.#data = [];
      this.#id = undefined;
      this.#length = 0;
      return;
    }
    this.#length += line.length;
    this.#pieceLength = 0;
    this.#assertLength();
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') this.#data.push(value);
    if (name === 'id' && !value.includes('\0')) this.#id = value;
  }

  #assertLength(): void {
    if (this.#length + this.#pieceLength <= this.#maxBytes + MAX_EXTRA_LENGTH) return;
    throw createTooLong(this.#maxBytes);
  }
}
