import { type IncomingMessage, request } from 'node:http';

interface Sent {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A response that was read as fast as it arrived. `bytes` is -1 if it was cut. */
interface Received {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
}

/** The text of longer bodies is cut. */
const MAX_TEXT = 1_048_576;

/** Sends one request from an address of loopback, which the host takes for a client of its own. */
export function sendFrom(
  localAddress: string,
  port: number,
  { target, body, ...options }: Sent,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const connection = { host: '127.0.0.1', port, localAddress, agent: false };
    const read = (response: IncomingMessage) => {
      let bytes = 0;
      let text = '';
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (text.length < MAX_TEXT) text += part.toString('latin1');
      });
      response.on('error', () => {});
      response.on('close', () => {
        const { statusCode: status = 0, complete } = response;
        resolve({ status, bytes: complete ? bytes : -1, text });
      });
    };
    request({ ...connection, path: target, ...options }, read)
      .on('error', reject)
      .end(body);
  });
}
