import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { ROOT } from '../../../support/http/call.js';
import { HELD, LONGEST, useHeldBodies } from '../../../support/http/use-held-bodies.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TEXT = JSON.stringify({
  items: Array.from({ length: 3000 }, (_, id) => ({ id, name: 'é' })),
});

describe('responses that are longer than they are held', () => {
  const setup = useHeldBodies();
  const get = (path = '/items/1', module = 'items', init = {}) => setup.fetch(module, path, init);
  const isRecorded = (facts: Record<string, unknown>) =>
    waitUntil('the call is recorded', async () => {
      const call = await setup.lastCall();
      return Object.entries(facts).every(([name, value]) => call[name] === value);
    });
  const sendText = (response: ServerResponse, text = TEXT, headers = {}) =>
    response.writeHead(200, { ...JSON_TYPE, ...headers }).end(text);

  it('come chunked in the envelope, with and without a length of the provider', async () => {
    for (const headers of [{ 'content-length': Buffer.byteLength(TEXT) }, {}]) {
      setup.answer((_request, response) => sendText(response, TEXT, headers));
      const response = await get();
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('application/json');
      expect(response.headers.get('content-length')).to.equal(null);
      const body = await response.text();
      expect(body).to.match(/^\{"status":"forwarded",/);
      expect(body.endsWith(`"data":${TEXT}}`)).to.equal(true);
    }
  });

  it('are held up to the limit', async () => {
    const text = JSON.stringify('x'.repeat(HELD - 2));
    setup.answer((_request, response) => sendText(response, text));
    const response = await get();
    expect(response.headers.get('content-length')).not.to.equal(null);
    expect((await response.json()) as object).to.include({ data: JSON.parse(text) });
    setup.answer((_request, response) => sendText(response, `${text.slice(0, -1)}x"`));
    expect((await get()).headers.get('content-length')).to.equal(null);
  });

  it('begin before the provider has sent them whole', async () => {
    let finish = () => {};
    setup.answer((request, response) => {
      expect(request.headers).to.have.property('modgate-deadline-ms');
      response.writeHead(200, JSON_TYPE).write(TEXT.slice(0, -1));
      finish = () => response.end('}');
    });
    const response = await get();
    finish();
    expect(((await response.json()) as { data: object }).data).to.deep.equal(JSON.parse(TEXT));
  });

  it('pass without the envelope in raw mode, with their status and headers', async () => {
    for (const status of [200, 201, 404, 500]) {
      setup.answer((_request, response) => {
        response.writeHead(status, { 'content-type': 'application/problem+json', etag: '"1"' });
        response.end(TEXT);
      });
      const response = await get('/items/1', 'raw');
      expect(response.status).to.equal(status);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
      expect(response.headers.get('etag')).to.equal('"1"');
      expect(await response.text()).to.equal(TEXT);
      await isRecorded({ status });
    }
  });

  it('keep the rules for other statuses and types', async () => {
    const answers: [number, object, string, number, number][] = [
      [404, JSON_TYPE, TEXT, 502, 404],
      [302, { ...JSON_TYPE, location: '/x' }, TEXT, 502, 502],
      [200, { 'content-type': 'text/html' }, TEXT, 502, 502],
      [200, { ...JSON_TYPE, 'content-encoding': 'gzip' }, TEXT, 502, 502],
      [500, { 'content-type': 'text/html' }, TEXT, 502, 500],
      [206, JSON_TYPE, TEXT, 200, 502],
    ];
    for (const [status, headers, text, wrapped, raw] of answers) {
      setup.answer((_request, response) => {
        response.writeHead(status, headers as Record<string, string>).end(text);
      });
      const { status: received } = await get();
      expect(received, `${status} in the envelope`).to.equal(wrapped);
      expect((await get('/items/1', 'raw')).status, `${status} in raw mode`).to.equal(raw);
    }
  });

  it('are a Problem where they are bad from the start', async () => {
    for (const text of [`x${TEXT}`, '\ufeff\ufeff{}'.padEnd(HELD + 1)]) {
      setup.answer((_request, response) => sendText(response, text));
      const response = await get();
      expect(response.status).to.equal(502);
      expect(await response.json()).to.include({ code: 'external_dependency_failure' });
    }
  });

  it('are cut where they turn out bad, and are recorded as a 502', async () => {
    const bad = [
      `${TEXT}x`,
      TEXT.slice(0, -1),
      `${TEXT.slice(0, -1)},}`,
      `${TEXT.slice(0, -2)}\u0001]}`,
    ];
    let finish = () => {};
    for (const module of ['items', 'raw']) {
      for (const text of bad) {
        setup.answer((_request, response) => {
          response.writeHead(200, JSON_TYPE).write(text.slice(0, 50_000));
          finish = () => response.end(text.slice(50_000));
        });
        const response = await get('/items/1', module);
        finish();
        expect(await isCut(response.text())).to.equal(true);
        await isRecorded({ status: 502, failure: 'protocol' });
      }
    }
  });

  it('are cut where the provider breaks off, and where they become too long', async () => {
    let finish = () => {};
    setup.answer((_request, response) => {
      response.writeHead(200, JSON_TYPE).write(TEXT.slice(0, 50_000));
      finish = () => response.destroy();
    });
    const cut = await get();
    finish();
    expect(await isCut(cut.text())).to.equal(true);
    await isRecorded({ status: 502, failure: 'protocol' });
    setup.answer((_request, response) => sendText(response, `"${'x'.repeat(LONGEST)}"`));
    const response = await get();
    if (response.ok) expect(await isCut(response.text())).to.equal(true);
    await isRecorded({ status: 502, failure: 'protocol' });
  });

  it('are a 502 at once where they announce too much', async () => {
    let isClosed = false;
    setup.answer((_request, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': LONGEST + 1 }).write('[');
      response.once('close', () => {
        isClosed = true;
      });
    });
    expect((await get()).status).to.equal(502);
    await waitUntil('the provider is rid of it', () => isClosed);
  });

  it('may take longer than the timeout of the module, but not pause', async () => {
    let finish = () => {};
    setup.answer(({ url }, response) => {
      if (url === '/items/unanswered') return;
      response.writeHead(200, JSON_TYPE).write(`["${'x'.repeat(HELD)}"`);
      finish = () => response.end(',1]');
    });
    const response = await get('/items/1', 'brief');
    // It begins later, and gets no answer: the time is over then.
    expect((await get('/items/unanswered', 'brief')).status).to.equal(502);
    finish();
    const body = (await response.json()) as { data: unknown[] };
    expect(body.data.length).to.equal(2);
    setup.answer((_request, response) =>
      response.writeHead(200, JSON_TYPE).write(TEXT.slice(0, -1)),
    );
    expect(await isCut((await get('/items/1', 'quick')).text())).to.equal(true);
    await isRecorded({ status: 502, failure: 'timeout' });
  });

  it('say their length to HEAD once they have proved good', async () => {
    setup.answer((_request, response) => sendText(response));
    const length = Buffer.byteLength(await (await get()).text());
    const response = await get('/items/1', 'items', { method: 'HEAD' });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-length')).to.equal(String(length));
    setup.answer((_request, response) => sendText(response, `${TEXT}x`));
    expect((await get('/items/1', 'items', { method: 'HEAD' })).status).to.equal(502);
  });

  it('are held whole where a schema is enforced', async () => {
    setup.answer((_request, response) => sendText(response));
    const response = await get('/described/1', 'checked');
    expect(response.headers.get('content-length')).not.to.equal(null);
    setup.answer((_request, response) => sendText(response, JSON.stringify('x'.repeat(HELD))));
    expect((await get('/described/1', 'checked')).status).to.equal(502);
  });

  it('are held whole for a client of HTTP/1.0', async () => {
    const ask = async () => {
      const socket = connect(setup.host.port, '127.0.0.1');
      socket.write(
        `GET /modules/items/http/items/1 HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer ${ROOT}\r\n\r\n`,
      );
      let text = '';
      for await (const part of socket) text += String(part);
      return text;
    };
    setup.answer((_request, response) => sendText(response));
    const text = await ask();
    expect(text).to.match(/^HTTP\/1\.1 200 /);
    expect(text.toLowerCase()).to.include('\r\ncontent-length: ');
    expect(text.endsWith('}}')).to.equal(true);
    setup.answer((_request, response) => sendText(response, `${TEXT}x`));
    expect(await ask()).to.match(/^HTTP\/1\.1 502 /);
  });

  it('are read from the provider no faster than the client reads them', async () => {
    const part = Buffer.from(`"${'x'.repeat(65_536)}",`);
    let sent = 0;
    let isClosed = false;
    setup.answer((_request, response) => {
      response.writeHead(200, JSON_TYPE).write('[');
      const write = () => {
        while (!response.destroyed) {
          sent += part.length;
          if (!response.write(part)) {
            response.once('drain', write);
            return;
          }
        }
      };
      response.once('close', () => {
        isClosed = true;
      });
      write();
    });
    const socket = connect(setup.host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write(
      `GET /modules/large/http/items/1 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ROOT}\r\n\r\n`,
    );
    let last = -1;
    await waitUntil('the provider waits', () => {
      const isStill = sent > 0 && sent === last;
      last = sent;
      return isStill;
    });
    expect(sent).to.be.below(64 * 1_048_576);
    socket.destroy();
    await waitUntil('the request is aborted', () => isClosed);
    await isRecorded({ status: 499 });
  });

  it('never look whole to a client unless they are', async () => {
    const texts = fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc.json({ maxDepth: 2 }).map((text) => `${text},`),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.nat({ max: 3 * HELD }),
        fc.nat(4),
        fc.boolean(),
        fc.option(fc.nat()),
        async (text, spaces, pieces, isAnnounced, cutAt) => {
          const bytes = Buffer.from(' '.repeat(spaces) + text);
          const sent = cutAt === null ? bytes.length : cutAt % (bytes.length + 1);
          setup.answer((_request, response) => {
            const length = isAnnounced ? { 'content-length': bytes.length } : {};
            response.writeHead(200, { ...JSON_TYPE, ...length });
            const size = Math.ceil(sent / (pieces + 1));
            for (let at = 0; at < sent; at += size) {
              response.write(bytes.subarray(at, Math.min(sent, at + size)));
            }
            if (cutAt === null) response.end();
            else setImmediate(() => response.destroy());
          });
          const response = await get();
          const body = await response.text().catch(() => null);
          const isGood = bytes.length > 0 && isJson(bytes) && cutAt === null;
          if (isGood || (bytes.length === 0 && cutAt === null)) {
            const data = bytes.length === 0 ? 'null' : bytes.toString();
            expect(response.status).to.equal(200);
            expect(body?.endsWith(`"data":${data}}`)).to.equal(true);
          } else if (body !== null && response.status === 200) {
            // A break after the last byte that was announced is none.
            expect(isAnnounced && sent === bytes.length && isJson(bytes)).to.equal(true);
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

function isCut(body: Promise<unknown>): Promise<boolean> {
  return body.then(
    () => false,
    () => true,
  );
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
