import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ROOT } from '../../support/http/call.js';
import { useBytes } from '../../support/http/use-bytes.js';
import { waitUntil } from '../../support/http/wait-until.js';

const MIB = 1_048_576;
const AUTHORIZED = `host: localhost\r\nauthorization: Bearer ${ROOT}\r\n`;
const UPLOAD = `POST /modules/raw/http/files/x HTTP/1.1\r\n${AUTHORIZED}`;

interface Ended {
  readonly text: string;
  /** The error of the connection; `null` for an orderly end. */
  readonly error: string | null;
}

describe('a connection that closes while its client is sending', () => {
  const setup = useBytes();

  before(() =>
    setup.answer((_request, response) => {
      const headers = { 'content-type': 'application/json', connection: 'close' };
      response.writeHead(413, headers).end('{"too":"large"}');
    }),
  );

  /** Sends everything, and only then reads, as many clients do. */
  const send = async (head: string, bytes: number): Promise<Ended> => {
    const socket = connect({ host: '127.0.0.1', port: setup.host.port, allowHalfOpen: true });
    let error: string | null = null;
    socket.on('error', (thrown: NodeJS.ErrnoException) => {
      error = thrown.code ?? thrown.message;
    });
    await once(socket, 'connect');
    socket.pause();
    socket.write(head);
    const part = Buffer.alloc(MIB / 4, 'x');
    for (let left = bytes; left > 0 && error === null; left -= part.length) {
      await new Promise((resolve) => socket.write(part, resolve));
    }
    socket.end();
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.resume();
    if (!socket.closed) await once(socket, 'close');
    return { text, error };
  };

  const chunked = 'transfer-encoding: chunked\r\n\r\n';
  const cases: readonly [string, string, RegExp][] = [
    [
      'the error of a provider',
      `${UPLOAD}content-length: 100000000\r\n\r\n`,
      /^HTTP\/1\.1 413 .*\{"too":"large"\}$/s,
    ],
    [
      'a rejection of the host to a client that asks for a close',
      `POST /modules/raw/http/files/x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 100000000\r\n\r\n`,
      /^HTTP\/1\.1 401 .*\}$/s,
    ],
    [
      'a body that is malformed',
      `${UPLOAD}${chunked}1\r\nx\r\nno size\r\n`,
      /^HTTP\/1\.1 400 .*\}$/s,
    ],
    ['a head that is malformed', `no HTTP at all\r\n\r\n`, /^HTTP\/1\.1 400 .*\}$/s],
    [
      'CONNECT',
      `CONNECT localhost:1 HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      /^HTTP\/1\.1 501 .*\}$/s,
    ],
    [
      'a handshake that is rejected',
      `GET /modules/raw/http/none HTTP/1.1\r\n${AUTHORIZED}connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      /^HTTP\/1\.1 404 .*\}$/s,
    ],
    [
      'requests behind the last one',
      `GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\nGET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      /^HTTP\/1\.1 200 /,
    ],
  ];
  for (const [title, head, expected] of cases) {
    it(`does not lose the response: ${title}`, async () => {
      for (let index = 0; index < 3; index += 1) {
        const { text, error } = await send(head, 12 * MIB);
        expect(error).to.equal(null);
        expect(text).to.match(expected);
        expect(text.match(/HTTP\/1\.1 /g)).to.have.length(1);
      }
    });
  }

  it('is closed after 16 MiB, and after 5 s', async () => {
    const head = `${UPLOAD}content-length: 100000000\r\n\r\n`;
    expect((await send(head, 64 * MIB)).error).to.be.oneOf(['ECONNRESET', 'EPIPE']);
    const startedAt = performance.now();
    const socket = connect({ host: '127.0.0.1', port: setup.host.port, allowHalfOpen: true });
    let isReset = false;
    socket.on('error', () => {
      isReset = true;
    });
    socket.write(head);
    await waitUntil('the connection is closed', () => {
      if (!isReset) socket.write('x');
      return isReset;
    });
    expect(performance.now() - startedAt).to.be.above(4900);
  });
});
