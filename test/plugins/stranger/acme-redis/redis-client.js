import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { BodyPieces, isBodyStream, ProviderFailure } from 'modgate/contract';
import { createAbortFailure, createTransportFailure, streamOf } from 'modgate/transport';

const END = '\r\n';

const headOf = (parts) => `*${parts.length}${END}${parts.map(encode).join('')}`;
const encode = (part) => `$${Buffer.byteLength(part)}${END}${part}${END}`;

/** A command, whose last part may be a body. */
export async function* encodeCommand(parts, body = null, length = body?.length) {
  if (body === null) return yield Buffer.from(headOf(parts));
  const count = parts.length + 1;
  yield Buffer.from(`*${count}${END}${parts.map(encode).join('')}$${length}${END}`);
  yield* isBodyStream(body) ? body : streamOf(body);
  yield Buffer.from(END);
}

/** One connection for each command: small, and enough for a test. */
export class RedisClient {
  #place;
  #database;
  #sockets = new Set();

  constructor(place, database) {
    this.#place = place;
    this.#database = database;
    this.url = place.origin;
  }

  get isUnused() {
    return this.#sockets.size === 0;
  }

  retire() {}

  close() {
    for (const socket of this.#sockets) socket.destroy();
  }

  async ping(signal) {
    const socket = await this.#open(signal);
    socket.write(headOf(['PING']));
    await once(socket, 'data', { signal }).finally(() => socket.destroy());
  }

  /** `body` has the command, `headers` the credentials. */
  async send({ headers, body }, { signal, maxResponseBytes, holdBytes = Infinity, counter }) {
    const socket = await this.#open(signal);
    const abort = () => socket.destroy();
    signal.addEventListener('abort', abort);
    const end = () => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
    };
    let phase = 'sending';
    const translate = (error) =>
      signal.aborted
        ? createAbortFailure(signal.reason, 0, phase)
        : createTransportFailure(error, phase);
    try {
      const reader = new ReplyReader(socket, counter);
      for (const command of [...listCredentials(headers), ['SELECT', `${this.#database}`]]) {
        socket.write(headOf(command));
        await reader.readLine();
      }
      for await (const part of body) {
        if (!socket.write(part)) await once(socket, 'drain', { signal });
      }
      phase = 'responding';
      const reply = await readReply(reader, maxResponseBytes);
      if (reply.length > holdBytes) return toStream(reply, end, translate);
      const pieces = new BodyPieces();
      for await (const piece of reply.bytes) pieces.add(piece);
      end();
      return { ...toHead(reply), body: pieces.list };
    } catch (error) {
      end();
      throw translate(error);
    }
  }

  async #open(signal) {
    const { host, port, tls } = this.#place;
    const socket = tls ? connectTls({ host, port, ...tls }) : connect({ host, port });
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket)).on('error', () => {});
    try {
      await once(socket, tls ? 'secureConnect' : 'connect', { signal });
      return socket;
    } catch (error) {
      socket.destroy();
      if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
      throw createTransportFailure(error, 'connecting');
    }
  }
}

function listCredentials({ authorization = '' }) {
  const [scheme, encoded = ''] = authorization.split(' ');
  if (scheme !== 'Basic') return [];
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return [['AUTH', text.slice(0, colon), text.slice(colon + 1)]];
}

async function readReply(reader, maxResponseBytes) {
  const line = await reader.readLine();
  if (line[0] !== '$') return { status: 200, length: 0, bytes: [Buffer.from(line.slice(1))] };
  const length = Number(line.slice(1));
  if (length > maxResponseBytes) {
    throw new ProviderFailure('protocol', 'the value is too long', { phase: 'answered' });
  }
  if (length < 0) return { status: 404, length: 0, bytes: [] };
  return { status: 200, length, bytes: reader.readBulk(length) };
}

const toHead = ({ status }) => ({
  status,
  headers: { 'content-type': 'application/octet-stream' },
});

function toStream(reply, end, translate) {
  async function* passOn() {
    try {
      yield* reply.bytes;
    } catch (error) {
      throw translate(error);
    } finally {
      end();
    }
  }
  const { status, headers } = toHead(reply);
  return { status, headers: { ...headers, 'content-length': `${reply.length}` }, body: passOn() };
}

/** Reads one line or value after the other. */
class ReplyReader {
  #parts;
  #counter;
  #rest = Buffer.alloc(0);

  constructor(socket, counter) {
    this.#parts = socket[Symbol.asyncIterator]();
    this.#counter = counter;
  }

  async #read() {
    const { value, done } = await this.#parts.next();
    if (done) throw new Error('the connection ended');
    this.#counter?.countReceived?.(value.length);
    return value;
  }

  async readLine() {
    while (!this.#rest.includes('\r\n'))
      this.#rest = Buffer.concat([this.#rest, await this.#read()]);
    const end = this.#rest.indexOf('\r\n');
    const line = this.#rest.subarray(0, end).toString();
    this.#rest = this.#rest.subarray(end + 2);
    if (line[0] !== '-') return line;
    throw new ProviderFailure('refused', 'Redis reports an error', { detail: line.slice(1) });
  }

  async *readBulk(length) {
    let left = length;
    let part = this.#rest;
    for (;;) {
      const piece = part.subarray(0, left);
      left -= piece.length;
      if (piece.length > 0) yield piece;
      if (left === 0) return;
      part = await this.#read();
    }
  }
}
