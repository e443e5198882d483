import {
  RawConnection,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { DEADLINE_MS } from './wait-until.js';

export interface RawRequest {
  /** Default `GET`. */
  readonly method?: string;
  /** Latin-1: each character is one byte of the request line. */
  readonly target: string;
  readonly headers?: readonly RawHeader[];
  readonly body?: Uint8Array;
  /** Default: `length` with a body, otherwise `none`. */
  readonly framing?: 'length' | 'chunked' | 'none';
}

/** Sends one request on a new connection. */
export async function sendRequest(
  port: number,
  request: RawRequest,
  deadlineMs = DEADLINE_MS,
): Promise<ReceivedResponse> {
  const connection = await RawConnection.open(port);
  try {
    connection.write(buildRequest(request));
    return await connection.readFinal({ toHead: request.method === 'HEAD', deadlineMs });
  } finally {
    connection.destroy();
  }
}

/** Adds only the framing of the body. */
export function buildRequest(request: RawRequest): Buffer {
  const framing = request.framing ?? (request.body === undefined ? 'none' : 'length');
  const body = Buffer.from(request.body ?? []);
  const lines = [`${request.method ?? 'GET'} ${request.target} HTTP/1.1`];
  for (const [name, value] of request.headers ?? []) lines.push(`${name}: ${value}`);
  if (framing === 'length') lines.push(`content-length: ${body.length}`);
  if (framing === 'chunked') lines.push('transfer-encoding: chunked');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, framing === 'chunked' ? encodeChunks(body) : body]);
}

function encodeChunks(body: Buffer): Buffer {
  // An odd size, so that chunk boundaries fall inside characters and tokens.
  const size = 8_191;
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}
