import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { buildRequest, type RawRequest } from './send-request.js';

/** A client that sends a request, or a part of it, and reads only on demand. */
export class SlowClient {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    // The host resets the connection of a client that has not read everything.
    socket.on('error', () => {});
  }

  /** @param as the dev token */
  static async send(
    port: number,
    as: string,
    { headers = [], ...request }: RawRequest,
    sentBytes = Number.POSITIVE_INFINITY,
  ): Promise<SlowClient> {
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    await once(socket, 'connect');
    const common: RawHeader[] = [
      ['host', '127.0.0.1'],
      ['authorization', `Bearer ${as}`],
    ];
    const bytes = buildRequest({ ...request, headers: [...common, ...headers] });
    socket.write(bytes.subarray(0, sentBytes));
    return new SlowClient(socket);
  }

  /** Reads until one response is complete. @returns its bytes, with the head */
  async read(): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let missing = Number.POSITIVE_INFINITY;
    this.#socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      if (missing === Number.POSITIVE_INFINITY) missing = measureResponse(Buffer.concat(pieces));
      else missing -= piece.length;
      if (missing === 0) this.#socket.destroy();
    });
    this.#socket.resume();
    if (!this.#socket.closed) await once(this.#socket, 'close');
    return Buffer.concat(pieces);
  }

  write(bytes: string): void {
    this.#socket.write(bytes);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** The bytes that are missing of a response with a length. */
function measureResponse(received: Buffer): number {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return Number.POSITIVE_INFINITY;
  const head = received.toString('latin1', 0, end);
  const [, length = ''] = /content-length: (\d+)/i.exec(head) ?? [];
  return end + 4 + Number(length) - received.length;
}
