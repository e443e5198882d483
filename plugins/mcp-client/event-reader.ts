import { createTooLong } from './exchange.js';

/** Names and comments of lines beside the data of an event. Characters. */
const MAX_EXTRA_LENGTH = 1_024;

export interface ServerEvent {
  readonly id: string | undefined;
  readonly data: string;
  /** How long after a break the stream should be opened again. */
  readonly retryMs: number | undefined;
}

/** Reads Server-Sent Events with a bound for each. */
export class EventReader {
  readonly #maxBytes: number;
  /** Removes a byte-order mark at the start. */
  readonly #decoder = new TextDecoder();
  /** The parts of the line that has not ended. */
  #pieces: string[] = [];
  /** The length of the event so far, without the last line. */
  #length = 0;
  #pieceLength = 0;
  #endsInReturn = false;
  #id: string | undefined;
  #data: string[] = [];
  #retryMs: number | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws ProviderFailure for an event that is too long. */
  push(part: Uint8Array): readonly ServerEvent[] {
    let text = this.#decoder.decode(part, { stream: true });
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
      const event = { id: this.#id, data: this.#data.join('\n'), retryMs: this.#retryMs };
      if (this.#data.length > 0 || event.id !== undefined || event.retryMs !== undefined) {
        events.push(event);
      }
      this.#data = [];
      this.#id = undefined;
      this.#retryMs = undefined;
      this.#length = 0;
      return;
    }
    this.#length += line.length;
    this.#pieceLength = 0;
    this.#assertLength();
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') this.#data.push(value);
    if (name === 'id' && !value.includes('\0')) this.#id = value;
    if (name === 'retry' && /^\d{1,15}$/.test(value)) this.#retryMs = Number(value);
  }

  #assertLength(): void {
    if (this.#length + this.#pieceLength <= this.#maxBytes + MAX_EXTRA_LENGTH) return;
    throw createTooLong(this.#maxBytes);
  }
}
