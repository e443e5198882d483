import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { ROOT } from '../../../support/http/call.js';
import { HELD, LONGEST, useHeldBodies } from '../../../support/http/use-held-bodies.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const HEAD = `host: localhost\r\nauthorization: Bearer ${ROOT}\r\ncontent-type: application/json\r\n`;
const TEXT = JSON.stringify({
  items: Array.from({ length: 3000 }, (_, id) => ({ id, name: 'é' })),
});
const LENGTH = Buffer.byteLength(TEXT);

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** Whether the last chunk has come. */
  readonly isWhole: boolean;
}

describe('requests that are longer than they are held', () => {
  const setup = useHeldBodies();
  const received: Received[] = [];
  const send = (body: NonNullable<RequestInit['body']>, path = '/items/1', module = 'items') =>
    setup.fetch(module, path, {
      method: 'POST',
      headers: JSON_TYPE,
      body,
      ...(!(typeof body === 'string') && { duplex: 'half' as const }),
    });
  const isRecorded = (facts: Record<string, unknown>) =>
    waitUntil('the call is recorded', async () => {
      const call = await setup.lastCall();
      return Object.entries(facts).every(([name, value]) => call[name] === value);
    });
  const open = async (module: string, framing: string, more = ''): Promise<Socket> => {
    const socket = connect(setup.host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
    socket.write(
      `POST /modules/${module}/http/items/1 HTTP/1.1\r\n${HEAD}${framing}\r\n${more}\r\n`,
    );
    return socket;
  };
  const readAll = async (socket: Socket): Promise<string> => {
    let text = '';
    for await (const part of socket) text += String(part);
    return text;
  };

  beforeEach(() => {
    received.length = 0;
    setup.answer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part)).on('error', () => {});
      request.once('close', () => {
        const { url, headers, complete: isWhole } = request;
        received.push({ url, headers, body: Buffer.concat(parts), isWhole });
      });
      request.once('end', () => response.writeHead(200, JSON_TYPE).end('{"ok":true}'));
    });
  });

  it('reach the provider byte for byte, with their length or chunked', async () => {
    for (const [body, framing, other] of [
      [TEXT, { 'content-length': String(LENGTH) }, 'transfer-encoding'],
      [
        ReadableStream.from([Buffer.from(TEXT)]),
        { 'transfer-encoding': 'chunked' },
        'content-length',
      ],
    ] as const) {
      const response = await send(body);
      expect(await response.json()).to.deep.include({ status: 'forwarded', data: { ok: true } });
      await waitUntil('it has arrived', () => received.length > 0);
      const [{ headers, body: bytes, isWhole }] = received.splice(0) as [Received];
      expect(bytes.toString()).to.equal(TEXT);
      expect(isWhole).to.equal(true);
      expect(headers).to.include({ ...framing, ...JSON_TYPE });
      expect(headers).not.to.have.any.keys(other, 'modgate-deadline-ms');
      expect(await setup.lastCall()).not.to.have.any.keys('bytes_in', 'request_sha256');
    }
  });

  it('are held up to the limit', async () => {
    const text = JSON.stringify('x'.repeat(HELD - 2));
    for (const body of [text, ReadableStream.from([Buffer.from(text)])]) {
      expect((await send(body)).status).to.equal(200);
      await waitUntil('it has arrived', () => received.length > 0);
      const [{ headers }] = received.splice(0) as [Received];
      expect(headers).to.include({ 'content-length': String(HELD) });
    }
  });

  it('are on their way before the client has sent them whole', async () => {
    let arrived = 0;
    setup.answer((request, response) => {
      request.on('data', (part: Buffer) => {
        arrived += part.length;
      });
      request.once('end', () => response.writeHead(204).end());
    });
    const socket = await open('items', `content-length: ${LENGTH}\r\nconnection: close`);
    socket.write(TEXT.slice(0, 2 * HELD));
    await waitUntil('the start arrives', () => arrived >= 2 * HELD);
    socket.write(TEXT.slice(2 * HELD));
    expect(await readAll(socket)).to.match(/^HTTP\/1\.1 200 /);
    expect(arrived).to.equal(LENGTH);
  });

  it('are 400 if they become invalid, and the provider never gets their last bytes', async () => {
    const ends = ['x', '', ',}'];
    for (const end of ends) {
      const text = `${TEXT.slice(0, -1)}${end === 'x' ? '}x' : end}`;
      for (const body of [text, ReadableStream.from([Buffer.from(text)])]) {
        const response = await send(body).catch(() => null);
        if (response !== null) {
          expect(response.status).to.equal(400);
          expect(await response.json()).to.deep.include({
            code: 'validation_failed',
            errors: [{ field: 'body', reason: 'not valid JSON' }],
          });
        }
        await isRecorded({ status: 400 });
      }
    }
    await waitUntil('the provider is rid of them', () => setup.provider.sockets.size === 0);
    expect(received.some(({ isWhole }) => isWhole)).to.equal(false);
  });

  it('are 400 before the provider is called where their start is bad', async () => {
    const response = await send(ReadableStream.from([Buffer.from(`x${TEXT}`)])).catch(() => null);
    if (response !== null) expect(response.status).to.equal(400);
    await isRecorded({ status: 400, attempts: 0 });
  });

  it('are 400 where they are too long', async () => {
    const text = JSON.stringify('x'.repeat(LONGEST));
    for (const body of [text, ReadableStream.from([Buffer.from(text)])]) {
      const response = await send(body).catch(() => null);
      if (response !== null) expect(response.status).to.equal(400);
      await isRecorded({ status: 400 });
    }
    expect(received.some(({ isWhole }) => isWhole)).to.equal(false);
  });

  it('get the error that the provider answers before their last byte', async () => {
    for (const [module, status, expected] of [
      ['raw', 413, /^HTTP\/1\.1 413 /],
      ['items', 413, /^HTTP\/1\.1 502 /],
    ] as const) {
      setup.answer((_request, response) => {
        response.writeHead(status, JSON_TYPE).end('{"too":"large"}');
      });
      const socket = await open(module, `content-length: ${LENGTH}`);
      socket.write(TEXT.slice(0, 2 * HELD));
      const text = await readAll(socket);
      expect(text).to.match(expected);
      expect(text.toLowerCase()).to.include('\r\nconnection: close\r\n');
      await waitUntil('the connection closes', () => setup.provider.sockets.size === 0);
    }
  });

  it('get an early success only once they have proved good', async () => {
    for (const [end, expected] of [
      [TEXT.slice(2 * HELD), /^HTTP\/1\.1 200 /],
      [TEXT.slice(2 * HELD).replace('}', ']'), /^HTTP\/1\.1 400 /],
    ] as const) {
      for (const isLong of [false, true]) {
        let isAnswered = false;
        setup.answer((_request, response) => {
          response.writeHead(200, JSON_TYPE).end(isLong ? TEXT : '{"early":true}');
          isAnswered = true;
        });
        const framing = `content-length: ${LENGTH}\r\nconnection: close`;
        const socket = await open('items', framing);
        socket.write(TEXT.slice(0, 2 * HELD));
        await waitUntil('the provider has answered', () => isAnswered);
        socket.write(end);
        expect(await readAll(socket), `${isLong}`).to.match(expected);
      }
    }
  });

  it('are 408 where the client pauses for too long, and the provider sees a cut', async () => {
    const socket = await open('quick', `content-length: ${LENGTH}`);
    socket.write(TEXT.slice(0, 2 * HELD));
    expect(await readAll(socket)).to.match(/^HTTP\/1\.1 408 /);
    await waitUntil('the provider sees it', () => received.length > 0);
    expect(received[0]?.isWhole).to.equal(false);
    await isRecorded({ status: 408 });
  });

  it('may take longer than the timeout of the module', async () => {
    let arrived = 0;
    setup.answer((request, response) => {
      request.on('data', (part: Buffer) => {
        arrived += part.length;
      });
      if (request.method === 'POST') {
        request.once('end', () => response.writeHead(200, JSON_TYPE).end('{}'));
      }
    });
    const socket = await open('brief', `content-length: ${LENGTH}\r\nconnection: close`);
    socket.write(TEXT.slice(0, 2 * HELD));
    await waitUntil('the start arrives', () => arrived >= 2 * HELD);
    // It begins later, and gets no answer: the time is over then.
    expect((await setup.fetch('brief', '/items/1')).status).to.equal(502);
    socket.write(TEXT.slice(2 * HELD));
    expect(await readAll(socket)).to.match(/^HTTP\/1\.1 200 /);
  });

  it('close the connection to the provider when the client has disconnected', async () => {
    let arrived = 0;
    setup.answer((request) => {
      request
        .on('error', () => {})
        .on('data', () => {
          arrived += 1;
        });
      request.once('close', () => {
        const { url, headers, complete: isWhole } = request;
        received.push({ url, headers, body: Buffer.alloc(0), isWhole });
      });
    });
    const socket = await open('items', `content-length: ${LENGTH}`);
    socket.write(TEXT.slice(0, 2 * HELD));
    await waitUntil('the request arrives', () => arrived > 0);
    socket.destroy();
    await waitUntil('the provider sees it', () => received.length > 0);
    expect(received[0]?.isWhole).to.equal(false);
    await isRecorded({ status: 499 });
  });

  it('are answered 100 Continue once, after their head has passed', async () => {
    for (const framing of [`content-length: ${LENGTH}`, 'transfer-encoding: chunked']) {
      const socket = await open(
        'items',
        `${framing}\r\nconnection: close`,
        'expect: 100-continue\r\n',
      );
      const [first] = await once(socket, 'data');
      expect(String(first)).to.match(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n$/);
      const isChunked = framing.startsWith('transfer');
      socket.write(isChunked ? `${LENGTH.toString(16)}\r\n${TEXT}\r\n0\r\n\r\n` : TEXT);
      const text = await readAll(socket);
      expect(text).to.match(/^HTTP\/1\.1 200 /);
    }
    const socket = connect(setup.host.port, '127.0.0.1');
    socket.write(
      `POST /modules/items/http/items/1 HTTP/1.1\r\n${HEAD.replace('application/json', 'text/html')}expect: 100-continue\r\ncontent-length: ${LENGTH}\r\n\r\n`,
    );
    const [first] = await once(socket, 'data');
    expect(String(first)).to.match(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });

  it('are held whole where a schema is enforced', async () => {
    expect((await send(TEXT, '/described/1', 'checked')).status).to.equal(200);
    await waitUntil('it has arrived', () => received.length > 0);
    expect(received[0]?.headers).to.include({ 'content-length': String(LENGTH) });
    const text = JSON.stringify('x'.repeat(2 * HELD));
    expect((await send(text, '/described/1', 'checked')).status).to.equal(400);
    expect(received.length).to.equal(1);
  });

  it('occupy at most a quarter of the places for each actor', async () => {
    let arrived = 0;
    setup.answer((request) => {
      arrived += 1;
      request.on('error', () => {}).resume();
    });
    const first = await open('few', `content-length: ${LENGTH}`);
    first.write(TEXT.slice(0, 2 * HELD));
    await waitUntil('the first arrives', () => arrived === 1);
    const second = await open('few', `content-length: ${LENGTH}`);
    second.write(TEXT.slice(0, 2 * HELD));
    const text = String(await once(second, 'data'));
    expect(text).to.match(/^HTTP\/1\.1 502 /);
    expect(text).to.include('limits.concurrency');
    expect(arrived).to.equal(1);
    first.destroy();
    second.destroy();
  });

  it('are sent to another endpoint only while none of them has gone', async () => {
    let attempts = 0;
    setup.answer((request) => {
      attempts += 1;
      request.once('data', () => request.socket.destroy());
    });
    const response = await setup.fetch('items', '/items/1', {
      method: 'PUT',
      headers: JSON_TYPE,
      body: TEXT,
    });
    expect(response.status).to.equal(502);
    expect(attempts).to.equal(1);
  });

  it('never look whole to the provider unless they are', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json({ maxDepth: 2 }),
          fc.string(),
          fc.json().map((text) => `${text}]`),
        ),
        fc.nat({ max: 3 * HELD }),
        fc.array(fc.nat(), { maxLength: 4 }),
        fc.boolean(),
        async (text, spaces, cuts, hasLength) => {
          number += 1;
          const path = `/items/${number}`;
          const ofThis = () => received.filter(({ url }) => url === path);
          const bytes = Buffer.from(' '.repeat(spaces) + text);
          const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
          ends.sort((first, other) => first - other);
          const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
          const chunked = ReadableStream.from(parts.filter(({ length }) => length > 0));
          const body = hasLength && bytes.length > 0 ? bytes.toString() : chunked;
          const response = await send(body, path).catch(() => null);
          if (response !== null) expect(response.status).to.equal(isJson(bytes) ? 200 : 400);
          if (isJson(bytes)) {
            await waitUntil('it has arrived', () => ofThis().length > 0);
            expect(ofThis()[0]?.body.equals(bytes)).to.equal(true);
          }
          expect(ofThis().every(({ isWhole }) => isWhole === isJson(bytes))).to.equal(true);
        },
      ),
      { numRuns: 150 },
    );
  });
});

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
