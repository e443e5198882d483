import { Worker } from 'node:worker_threads';

const SOURCE = `
const { connect } = require('node:net');
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ port, head, body }) => {
  let received = '';
  const socket = connect(port, '127.0.0.1');
  socket.on('data', (bytes) => { received += bytes.toString('latin1'); });
  socket.on('error', () => {}).on('close', () => {
    parentPort.postMessage(received);
  });
  socket.write(head);
  socket.write(body);
});`;

/** A client that does not use the event loop of the test, in which a measured host runs. */
export class ClientThread {
  readonly #worker = new Worker(SOURCE, { eval: true });

  /**
   * Sends JSON by POST, as `dev-system:root`.
   * @param body not usable afterwards
   * @param headers further ones, as lines
   * @returns the response, with its head
   */
  post(
    port: number,
    target: string,
    body: Uint8Array<ArrayBuffer>,
    headers: readonly string[] = [],
  ): Promise<string> {
    return this.#send(port, `POST ${target}`, body, headers);
  }

  /** @returns the response, as `dev-system:root` */
  async get(port: number, target: string, headers: readonly string[] = []): Promise<string> {
    return this.#send(port, `GET ${target}`, new Uint8Array(), headers);
  }

  #send(
    port: number,
    request: string,
    body: Uint8Array<ArrayBuffer>,
    headers: readonly string[],
  ): Promise<string> {
    const lines = [
      `${request} HTTP/1.1`,
      'host: localhost',
      'connection: close',
      'authorization: Bearer dev-system:root',
      'content-type: application/json',
      `content-length: ${body.length}`,
      ...headers,
    ];
    const head = `${lines.join('\r\n')}\r\n\r\n`;
    return new Promise((resolve) => {
      this.#worker.once('message', resolve);
      this.#worker.postMessage({ port, head, body }, [body.buffer]);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
