import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { call, parseJson, ROOT } from '../../support/http/call.js';
import { useBytes } from '../../support/http/use-bytes.js';
import { openRaw } from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';

const HEAD = `host: localhost\r\nauthorization: Bearer ${ROOT}\r\n`;

describe('requests of bytes', () => {
  const setup = useBytes();
  const received: { headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = [];

  beforeEach(() => {
    received.length = 0;
    setup.answer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      received.push({ headers: request.headers, body: Buffer.concat(parts) });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  });

  it('reach the provider byte for byte, with what describes them', async () => {
    const body = Buffer.from('\u00ff\u0000 not JSON', 'latin1');
    const headers = {
      'content-type': 'image/png; x=1',
      'content-encoding': 'gzip',
      'content-disposition': 'attachment',
      'content-range': 'bytes 0-9/20',
      'content-language': 'de',
      'content-md5': 'abc',
      'content-digest': 'sha-256=:abc=:',
    };
    const response = await setup.fetch('files', '/files/x', { method: 'POST', headers, body });
    expect(await response.json()).to.deep.include({ status: 'forwarded', data: { ok: true } });
    expect(received[0]?.body).to.deep.equal(body);
    expect(received[0]?.headers).to.include({ ...headers, 'content-length': String(body.length) });
    expect(received[0]?.headers).not.to.have.property('transfer-encoding');
    expect(received[0]?.headers).not.to.have.property('modgate-deadline-ms');
    expect(await setup.lastCall()).to.include({
      bytes_in: body.length,
      request_sha256: null,
      bytes_out: null,
    });
  });

  it('are recorded with their digest where the descriptor asks for it', async () => {
    const body = Buffer.alloc(200_000, 7);
    const response = await setup.fetch('raw', '/files/x', { method: 'POST', body });
    expect(response.status).to.equal(200);
    expect(await setup.lastCall()).to.include({
      bytes_in: body.length,
      request_sha256: createHash('sha256').update(body).digest('hex'),
    });
  });

  it('carry the forms of browsers', async () => {
    const form = new FormData();
    form.set('name', 'a picture');
    form.set('file', new Blob([Buffer.alloc(200_000, 7)], { type: 'image/png' }), 'a.png');
    const response = await setup.fetch('files', '/files/x', { method: 'POST', body: form });
    expect(response.status).to.equal(200);
    const parsed = await new Response(received[0]?.body, {
      headers: { 'content-type': String(received[0]?.headers['content-type']) },
    }).formData();
    expect(parsed.get('name')).to.equal('a picture');
    expect((parsed.get('file') as File).size).to.equal(200_000);
  });

  it('are chunked where the client gives no length', async () => {
    async function* parts() {
      for (let count = 0; count < 10; count += 1) yield Buffer.alloc(10_000, count);
    }
    const init = { method: 'PUT', body: ReadableStream.from(parts()), duplex: 'half' } as const;
    const response = await setup.fetch('files', '/files/x', init as RequestInit);
    expect(response.headers.get('modgate-status')).to.equal('forwarded');
    expect(await response.json()).to.deep.equal({ ok: true });
    expect(received[0]?.headers).to.include({ 'transfer-encoding': 'chunked' });
    expect(received[0]?.body.length).to.equal(100_000);
    expect(await setup.lastCall()).to.include({ bytes_in: 100_000, bytes_out: 11 });
  });

  it('may have no bytes', async () => {
    expect((await setup.fetch('files', '/files/x', { method: 'POST' })).status).to.equal(200);
    const headers = { 'content-type': 'image/png' };
    const response = await setup.fetch('files', '/images', { method: 'POST', headers });
    expect(response.status).to.equal(200);
    expect(received[1]?.headers['content-type']).to.equal('image/png');
    expect(received[1]?.body.length).to.equal(0);
    const target = '/modules/files/http/images';
    const untyped: RawHeader[][] = [[], [['content-type', 'text/html']]];
    for (const headers of untyped) {
      const send = (body: string) =>
        call(setup.host, {
          ...{ method: 'POST', target, headers, body: Buffer.from(body) },
          framing: 'chunked',
        });
      expect((await send('')).status).to.equal(200);
      expect(received.splice(0).at(-1)?.body.length).to.equal(0);
      const rejected = await send('1');
      expect(rejected.status).to.equal(400);
      expect(parseJson(rejected)['errors']).to.deep.equal([
        {
          field: 'content-type',
          reason: headers.length === 0 ? 'missing' : 'expected image/* or multipart/form-data',
        },
      ]);
      expect(received).to.have.length(0);
    }
  });

  it('are 400 with another media type, or with more bytes than the route allows', async () => {
    const send = (type: string, body: Uint8Array) =>
      setup.fetch('files', '/images', { method: 'POST', headers: { 'content-type': type }, body });
    expect((await send('image/png', Buffer.alloc(1000))).status).to.equal(200);
    for (const [type, size] of [
      ['text/html', 1],
      ['image/png', 1001],
    ] as const) {
      const response = await send(type, Buffer.alloc(size));
      expect(response.status).to.equal(400);
      expect(await response.json()).to.include({ code: 'validation_failed' });
    }
    expect(received.length).to.equal(1);
  });

  it('are 400 where more bytes come than they announced nothing of', async () => {
    const body = ReadableStream.from([Buffer.alloc(900), Buffer.alloc(900)]);
    const headers = { 'content-type': 'image/png' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const response = await setup.fetch('raw', '/images', init);
    expect(response.status).to.equal(400);
    await waitUntil('the provider is rid of the request', () => received.length === 0);
    expect(await setup.lastCall()).to.include({ status: 400, request_sha256: null });
  });

  it('get the error that the provider answers before their last byte', async () => {
    setup.answer((_request, response) => {
      response.writeHead(413, { 'content-type': 'application/json' }).end('{"too":"large"}');
    });
    const socket = connect(setup.host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /modules/raw/http/files/x HTTP/1.1\r\n${HEAD}content-length: 1000000\r\n\r\nfirst`,
    );
    let text = '';
    for await (const part of socket) text += String(part);
    expect(text).to.match(/^HTTP\/1.1 413 /);
    expect(text.toLowerCase()).to.include('\r\nconnection: close\r\n');
    expect(text).to.include('{"too":"large"}');
    await waitUntil('the connection closes', () => setup.provider.sockets.size === 0);
  });

  it('flow on after the head of a success, and stop at that of an error', async () => {
    for (const status of [200, 413]) {
      const parts: Buffer[] = [];
      let end = () => {};
      setup.answer((request, response) => {
        request.on('data', (part: Buffer) => parts.push(part)).on('error', () => {});
        request.once('end', () => end());
        response.writeHead(status, { 'content-type': 'text/plain' }).write('progress');
        end = () => response.end(' and end');
      });
      const socket = await openRaw(setup.host.port);
      socket.write(
        `PUT /modules/raw/http/files/x HTTP/1.1\r\n${HEAD}content-length: 9\r\n\r\nfirst`,
      );
      await socket.until('progress');
      socket.write('last');
      if (status === 413) {
        // Another request shows that the host has read what came before it.
        await setup.lastCall();
        end();
      }
      await socket.until(' and end');
      await waitUntil(
        'the connection closes',
        () => setup.provider.sockets.size === 0 || status === 200,
      );
      expect(Buffer.concat(parts).toString()).to.equal(status === 200 ? 'firstlast' : 'first');
      socket.socket.destroy();
    }
  });

  it('are 408 where the client pauses for too long, and the provider sees a cut', async () => {
    let isAborted = false;
    setup.answer((request) => {
      request.on('data', () => {}).on('error', () => {});
      request.once('close', () => {
        isAborted = !request.complete;
      });
    });
    const socket = connect(setup.host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /modules/quick/http/files/x HTTP/1.1\r\n${HEAD}content-length: 1000000\r\n\r\nfirst`,
    );
    let text = '';
    for await (const part of socket) text += String(part);
    expect(text).to.match(/^HTTP\/1.1 408 /);
    await waitUntil('the provider sees it', () => isAborted);
    expect(await setup.lastCall()).to.include({ status: 408 });
  });

  it('are answered 100 Continue only once their head has passed', async () => {
    const ask = async (path: string, type: string) => {
      const socket = connect(setup.host.port, '127.0.0.1');
      socket.write(
        `POST /modules/files/http${path} HTTP/1.1\r\n${HEAD}content-type: ${type}\r\nexpect: 100-continue\r\nconnection: close\r\ncontent-length: 3\r\n\r\n`,
      );
      const [first] = await once(socket, 'data');
      socket.write('abc');
      let rest = '';
      for await (const part of socket) rest += String(part);
      return { first: String(first), rest };
    };
    const passed = await ask('/images', 'image/png');
    expect(passed.first).to.match(/^HTTP\/1.1 100 /);
    expect(passed.rest).to.match(/^HTTP\/1.1 200 /);
    expect((await ask('/images', 'text/html')).first).to.match(/^HTTP\/1.1 400 /);
  });

  it('are 502 where the provider does not read them', async () => {
    setup.answer((request) => request.pause());
    const body = Buffer.alloc(32 * 1_048_576);
    const response = await setup
      .fetch('quick', '/files/x', { method: 'POST', body })
      .catch(() => null);
    if (response !== null) expect(response.status).to.equal(502);
    await waitUntil(
      'it is recorded',
      async () => (await setup.lastCall())['failure'] === 'timeout',
    );
  });

  it('close the connection to the provider when the client has disconnected', async () => {
    let isAborted = false;
    setup.answer((request) => {
      request.on('data', () => {}).on('error', () => {});
      request.once('close', () => {
        isAborted = !request.complete;
      });
    });
    const socket = connect(setup.host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /modules/files/http/files/x HTTP/1.1\r\n${HEAD}content-length: 10\r\n\r\nfirst`,
    );
    await waitUntil('the request arrives', () => setup.provider.sockets.size > 0);
    socket.destroy();
    await waitUntil('the provider sees it', () => isAborted);
  });

  it('are rejected where the connection header names what describes them', async () => {
    const socket = connect(setup.host.port, '127.0.0.1');
    socket.write(
      `POST /modules/files/http/files/x HTTP/1.1\r\n${HEAD}connection: close, content-encoding\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx`,
    );
    const [first] = await once(socket, 'data');
    expect(String(first)).to.match(/^HTTP\/1.1 400 /);
    socket.destroy();
  });
});
