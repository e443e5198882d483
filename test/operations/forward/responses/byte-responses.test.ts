import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ROOT } from '../../../support/http/call.js';
import { useBytes } from '../../../support/http/use-bytes.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const PDF = Buffer.from('%PDF-1.7 \u00ff\u0000 not JSON', 'latin1');

describe('responses of bytes', () => {
  const setup = useBytes();

  it('pass byte for byte, with the fields of the envelope as headers', async () => {
    setup.answer((request, response) => {
      expect(request.headers.accept).to.equal('*/*');
      expect(request.headers).not.to.have.property('modgate-deadline-ms');
      response.writeHead(200, {
        // Node garbles its characters behind a length.
        'content-disposition': 'attachment; filename="na\u00efve.pdf"',
        'content-type': 'application/pdf',
        'content-length': PDF.length,
        'content-encoding': 'x-own',
        etag: '"7"',
        'x-pages': '3',
      });
      response.end(PDF);
    });
    const response = await setup.fetch('files', '/files/a%20b/c.pdf?x=1');
    expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(PDF);
    const headers = Object.fromEntries(response.headers);
    expect(headers).to.include({
      'content-type': 'application/pdf',
      'content-length': String(PDF.length),
      'content-disposition': 'attachment; filename="na\u00efve.pdf"',
      'content-encoding': 'x-own',
      etag: '"7"',
      'x-pages': '3',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'no-store',
      'modgate-status': 'forwarded',
      'modgate-module-name': 'files',
      'modgate-method': 'GET',
      'modgate-declared-path': '/files/{rest...}',
      'modgate-provider-path': '/files/a%20b/c.pdf',
      'modgate-capability': 'files.read',
      'modgate-path-params': 'rest=a+b%2Fc.pdf',
    });
  });

  it('have no headers of the envelope in raw mode, and any status with a body', async () => {
    setup.answer((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<p>none</p>');
    });
    const response = await setup.fetch('raw', '/files/x');
    expect(response.status).to.equal(404);
    expect(await response.text()).to.equal('<p>none</p>');
    expect(response.headers.get('modgate-status')).to.equal(null);
    expect(response.headers.get('modgate-origin')).to.equal('provider');
  });

  it('are recorded with their length, and with their digest where the descriptor asks for it', async () => {
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('first');
      setImmediate(() => response.end(' last'));
    });
    const digest = createHash('sha256').update('first last').digest('hex');
    for (const [module, recorded] of [
      ['files', null],
      ['raw', digest],
    ] as const) {
      const response = await setup.fetch(module, '/files/x');
      expect(await response.text()).to.equal('first last');
      expect(response.headers.get('content-length')).to.equal(null);
      expect(await setup.lastCall()).to.include({
        status: 200,
        bytes_out: 10,
        response_sha256: recorded,
        bytes_in: null,
        request_sha256: null,
      });
    }
  });

  it('may have neither bytes nor a type where the route lists types', async () => {
    for (const end of [false, true]) {
      setup.answer((_request, response) => {
        response.writeHead(202).flushHeaders();
        if (end) response.end();
        else setTimeout(() => response.end('late'), 50);
      });
      const response = await setup.fetch('files', '/images/7');
      expect(response.status).to.equal(end ? 202 : 502);
      await response.arrayBuffer();
    }
  });

  it('begin before the provider has sent them whole', async () => {
    let finish = () => {};
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('first');
      finish = () => response.end('last');
    });
    const response = await setup.fetch('files', '/files/x');
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).to.equal('first');
    finish();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).to.equal('last');
    expect((await reader?.read())?.done).to.equal(true);
  });

  it('pass ranges in both directions', async () => {
    setup.answer((request, response) => {
      expect(request.headers).to.include({ range: 'bytes=1-2', 'if-range': '"7"' });
      const headers = { 'content-type': 'text/plain', 'content-range': 'bytes 1-2/9' };
      response.writeHead(206, { ...headers, 'accept-ranges': 'bytes' }).end('ab');
    });
    for (const module of ['files', 'raw']) {
      const headers = { range: 'bytes=1-2', 'if-range': '"7"' };
      const response = await setup.fetch(module, '/files/x', { headers });
      expect(response.status).to.equal(206);
      expect(response.headers.get('content-range')).to.equal('bytes 1-2/9');
      expect(response.headers.get('accept-ranges')).to.equal('bytes');
      expect(await response.text()).to.equal('ab');
    }
  });

  it('pass several ranges of a route with types, to callers that ask for ranges', async () => {
    const type = 'multipart/byteranges; boundary=x';
    setup.answer((_request, response) => {
      response.writeHead(206, { 'content-type': type }).end('--x--');
    });
    const headers = { range: 'bytes=0-1,4-5' };
    const response = await setup.fetch('files', '/images/x', { headers });
    expect(response.status).to.equal(206);
    expect(response.headers.get('content-type')).to.equal(type);
    expect(await response.text()).to.equal('--x--');
    expect((await setup.fetch('files', '/images/x')).status).to.equal(502);
    setup.answer((_request, other) => {
      other.writeHead(200, { 'content-type': type }).end('--x--');
    });
    expect((await setup.fetch('files', '/images/x', { headers })).status).to.equal(502);
  });

  it('keep the content-range of a raw 416 of another type, without its body', async () => {
    setup.answer((_request, response) => {
      const headers = { 'content-type': 'text/plain', 'content-range': 'bytes */9' };
      response.writeHead(416, headers).end('too far');
    });
    for (const module of ['files', 'raw']) {
      const response = await setup.fetch(module, '/images/x');
      expect(response.status).to.equal(416);
      expect(response.headers.get('content-range')).to.equal('bytes */9');
      expect(await response.text()).not.to.contain('too far');
    }
  });

  it('report a range that cannot be satisfied as a Problem in the envelope', async () => {
    setup.answer((_request, response) => {
      const headers = { 'content-type': 'text/plain', 'content-range': 'bytes */9' };
      response.writeHead(416, headers).end('too far');
    });
    const response = await setup.fetch('files', '/files/x');
    expect(response.status).to.equal(416);
    expect(response.headers.get('content-range')).to.equal('bytes */9');
    expect(await response.json()).to.include({ code: 'provider_error', status: 416 });
    const raw = await setup.fetch('raw', '/files/x');
    expect(await raw.text()).to.equal('too far');
    expect(raw.headers.get('content-range')).to.equal('bytes */9');
  });

  it('say their length to HEAD, which reaches the provider', async () => {
    setup.answer((request, response) => {
      expect(request.method).to.equal('HEAD');
      response
        .writeHead(200, { 'content-type': 'application/pdf', 'content-length': 12_345 })
        .end();
    });
    for (const module of ['files', 'raw']) {
      const response = await setup.fetch(module, '/files/x', { method: 'HEAD' });
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-length')).to.equal('12345');
      expect(response.headers.get('content-type')).to.equal('application/pdf');
    }
  });

  it('are 502 where their media type is not listed', async () => {
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    });
    const response = await setup.fetch('files', '/images/1');
    expect(response.status).to.equal(502);
    expect(await setup.lastCall()).to.include({
      failure: 'protocol',
      failure_detail: 'content-type text/html',
      detail:
        'the response of the provider of the module cannot be forwarded: content-type text/html: ' +
        'this route carries the media types of operation.response_types',
    });
  });

  it('are 502 where they announce more bytes than the route allows', async () => {
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': 101 });
      response.end(Buffer.alloc(101));
    });
    expect((await setup.fetch('files', '/images/1')).status).to.equal(502);
    expect((await setup.fetch('small', '/files/1')).status).to.equal(502);
  });

  it('are cut where more bytes come than the route allows', async () => {
    let finish = () => {};
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.write(Buffer.alloc(90));
      finish = () => response.end(Buffer.alloc(90));
    });
    const response = await setup.fetch('raw', '/images/1');
    finish();
    expect(await failureOf(response.arrayBuffer())).to.be.instanceOf(Error);
    await waitUntil('the call is recorded', async () => (await setup.lastCall())['status'] === 502);
    expect(await setup.lastCall()).to.include({ failure: 'protocol', response_sha256: null });
  });

  it('are cut where the provider closes its connection too early', async () => {
    for (const headers of [{ 'content-length': 100 }, {}]) {
      setup.answer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain', ...headers });
        response.write('part');
        setImmediate(() => response.destroy());
      });
      const response = await setup.fetch('files', '/files/x');
      expect(await failureOf(response.text())).to.be.instanceOf(Error);
      await waitUntil(
        'the call is recorded',
        async () => (await setup.lastCall())['status'] === 502,
      );
    }
  });

  it('are cut where the provider pauses for too long', async () => {
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('part');
    });
    const response = await setup.fetch('quick', '/files/x');
    expect(await failureOf(response.text())).to.be.instanceOf(Error);
    await waitUntil(
      'the call is recorded',
      async () => (await setup.lastCall())['failure'] === 'timeout',
    );
  });

  it('are cut where the provider sends too slowly', async () => {
    let timer: NodeJS.Timeout | undefined;
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      timer = setInterval(() => response.write('x'), 50);
      response.once('close', () => clearInterval(timer));
    });
    const response = await setup.fetch('quick', '/files/x');
    expect(await failureOf(response.text())).to.be.instanceOf(Error);
    await waitUntil(
      'the call is recorded',
      async () => (await setup.lastCall())['failure'] === 'timeout',
    );
  });

  it('may take longer than the timeout of the module', async () => {
    let finish = () => {};
    setup.answer(({ url }, response) => {
      if (url === '/files/unanswered') return;
      response.writeHead(200, { 'content-type': 'text/plain' }).write('x'.repeat(1000));
      finish = () => response.end('y');
    });
    const response = await setup.fetch('brief', '/files/x');
    // It begins later, and gets no answer: the time is over then.
    expect((await setup.fetch('brief', '/files/unanswered')).status).to.equal(502);
    finish();
    expect((await response.text()).length).to.equal(1001);
  });

  it('are read from the provider no faster than the client reads them', async () => {
    const part = Buffer.alloc(65_536, 'x');
    let sent = 0;
    let isFinished = false;
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const write = () => {
        while (!response.destroyed && !isFinished) {
          sent += part.length;
          if (!response.write(part)) {
            response.once('drain', write);
            return;
          }
        }
      };
      write();
    });
    const socket = connect(setup.host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write(
      `GET /modules/files/http/files/x HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ROOT}\r\n\r\n`,
    );
    let last = -1;
    await waitUntil('the provider waits', () => {
      const isStill = sent > 0 && sent === last;
      last = sent;
      return isStill;
    });
    expect(sent).to.be.below(64 * 1_048_576);
    const isClosed = waitUntil('the connection closes', () => setup.provider.sockets.size === 0);
    socket.destroy();
    await isClosed;
    isFinished = true;
  });

  it('are not requested any more once the client has disconnected', async () => {
    let isClosed = false;
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('part');
      response.once('close', () => {
        isClosed = true;
      });
    });
    const controller = new AbortController();
    await setup.fetch('files', '/files/x', { signal: controller.signal });
    controller.abort();
    await waitUntil('the request is aborted', () => isClosed);
    await waitUntil('the call is recorded', async () => (await setup.lastCall())['status'] === 499);
  });

  it('are 426 for a client of HTTP/1.0', async () => {
    const socket = connect(setup.host.port, '127.0.0.1');
    socket.write(
      `GET /modules/files/http/files/x HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer ${ROOT}\r\n\r\n`,
    );
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).to.match(/^HTTP\/1.1 426 /);
    expect(text.toLowerCase()).to.include('\r\nupgrade: http/1.1\r\n');
    expect(text).to.include('"code":"upgrade_required"');
    expect(text, 'nginx speaks HTTP/1.0 by default').to.include('proxy_http_version 1.1');
  });
});

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}
