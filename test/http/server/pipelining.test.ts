import { once } from 'node:events';
import http, { type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { serializeRequests } from '../../../core/http/server/pipelining.js';
import { headerValue, RawConnection } from '../../../core/selftest/raw-http.js';
import { call, ROOT } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const CONNECTIONS = 100;
const STATUS = 'HTTP/1.1 200';
const ROUTE = '/modules/wide/http/items';

describe('pipelined requests', () => {
  const setup = useHost((provider) => ({
    'wide.json': describeWideModule('wide', provider.url),
  }));
  const head = (line: string) =>
    `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${ROOT}\r\n`;
  const POSTED = `${head(`POST ${ROUTE}`)}content-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;

  it('are ignored behind one that ends the connection', async () => {
    const rejected = `${head(`POST ${ROUTE}`)}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`;
    const hidden = `${head(`GET ${ROUTE}`)}\r\n`;
    for (let count = 0; count < CONNECTIONS; count += 1) {
      const connection = await RawConnection.open(setup.host.port);
      connection.write(rejected + hidden);
      expect((await connection.readFinal()).status).to.equal(501);
      await connection.closed();
      expect(connection.unread).to.equal('');
    }
    expect(setup.provider.requests).to.have.length(0);
  });

  it('are answered in order', async () => {
    const connection = await RawConnection.open(setup.host.port);
    connection.write(`${head(`GET ${ROUTE}`)}\r\n`.repeat(20));
    for (let count = 0; count < 20; count += 1) {
      expect((await connection.readFinal()).status).to.equal(200);
    }
    connection.destroy();
    expect(setup.provider.requests).to.have.length(20);
  });

  for (const expectation of ['', 'expect: 100-continue\r\n']) {
    it(`are answered before a parser error behind them ${expectation.trim()}`, async () => {
      const connection = await RawConnection.open(setup.host.port);
      const lines = 'content-type: application/json\r\ncontent-length: 2\r\n';
      const posted = `${head(`POST ${ROUTE}`)}${lines}${expectation}\r\n{}`;
      connection.write(`${posted}no HTTP\r\n\r\n`);
      expect((await connection.readFinal()).status).to.equal(200);
      expect((await connection.readFinal()).status).to.equal(400);
      await connection.closed();
      expect(setup.provider.requests).to.have.length(1);
    });
  }

  it('are answered before a CONNECT behind them is rejected', async () => {
    setup.provider.answer({ delayMs: 100 });
    const connection = await RawConnection.open(setup.host.port);
    connection.write(`${POSTED}CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    expect((await connection.readFinal()).status).to.equal(200);
    expectProblem(await connection.readFinal(), 501);
    await connection.closed();
  });

  it('survive a reset behind a CONNECT', async () => {
    setup.provider.answer({ delayMs: 100 });
    const socket = connect(setup.host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`${POSTED}CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    await waitUntil('the call', () => setup.provider.requests.length === 1);
    socket.resetAndDestroy();
    await waitUntil('the end of the call', () =>
      setup.host.logs().some(({ msg, status }) => msg === 'request' && status === 499),
    );
    expect((await call(setup.host, { target: '/livez', as: null })).status).to.equal(200);
  });

  it('are ignored behind a request for an upgrade, which closes the connection', async () => {
    setup.provider.answer({ delayMs: 100 });
    const upgrade = `${head(`GET ${ROUTE}`)}connection: upgrade\r\nupgrade: x\r\n\r\n`;
    const connection = await RawConnection.open(setup.host.port);
    connection.write(`${upgrade}${head(`GET ${ROUTE}`)}\r\n`);
    await waitUntil('the call', () => setup.provider.requests.length === 1);
    connection.write(`${head(`GET ${ROUTE}`)}\r\n`);
    const { status, headers } = await connection.readFinal();
    expect(status).to.equal(200);
    expect(headerValue(headers, 'connection')?.toLowerCase()).to.equal('close');
    await connection.closed();
    expect(connection.unread).to.equal('');
    expect(setup.provider.requests).to.have.length(1);
  });
});

describe('client that pipelines without pause', () => {
  /** 440 KB: Node reads at most 64 KiB at a time. */
  const SENT = 20_000;
  const held: ServerResponse[] = [];
  let server: Server;
  let client: Socket;
  let received = 0;
  let isHolding = true;

  before(async () => {
    const answer = (response: ServerResponse) => response.end();
    server = http.createServer({ requireHostHeader: false });
    server.on('request', () => {
      received += 1;
    });
    server.on(
      'request',
      serializeRequests((_request, response) => {
        if (isHolding) held.push(response);
        else answer(response);
      }, Number.POSITIVE_INFINITY),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\n\r\n'.repeat(SENT));
  });

  after(() => {
    client.destroy();
    server.close();
  });

  it('is not read while 100 of its requests are unanswered', async () => {
    await waitUntil('the requests', () => received >= 100);
    // In these turns of the event loop all requests would be read.
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    expect(received).to.be.below(SENT / 2);
    expect(held).to.have.length(1);
  });

  it('gets every response once the first one is sent', async () => {
    let responses = 0;
    let rest = '';
    client.setEncoding('latin1').on('data', (chunk: string) => {
      const text = rest + chunk;
      responses += text.split(STATUS).length - 1;
      // A status may be divided between two chunks.
      rest = text.slice(1 - STATUS.length);
    });
    isHolding = false;
    held[0]?.end();
    await waitUntil('the responses', () => responses >= SENT, 50_000);
    expect(responses).to.equal(SENT);
    expect(received).to.equal(SENT);
  });
});

describe('clients that pipeline at the same time', () => {
  const MAX_WAITING = 50;
  const REQUEST = 'GET / HTTP/1.1\r\n\r\n';
  const held: ServerResponse[] = [];
  const clients: RawConnection[] = [];
  let server: Server;

  before(async () => {
    server = http.createServer({ requireHostHeader: false });
    const hold = (_request: unknown, response: ServerResponse) => held.push(response);
    server.on('request', serializeRequests(hold, Number.POSITIVE_INFINITY, MAX_WAITING));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
    held.length = 0;
  });

  after(() => server.close());

  const send = async (count: number) => {
    const client = await RawConnection.open((server.address() as AddressInfo).port);
    clients.push(client);
    client.write(REQUEST.repeat(count));
    return client;
  };

  it('share a limit of waiting requests, beyond which a connection is closed', async () => {
    const first = await send(MAX_WAITING + 1);
    await waitUntil('its first request', () => held.length === 1);
    const second = await send(2);
    await second.closed();
    expect(first.isClosed).to.equal(false);
    // One request is not waiting.
    const third = await send(1);
    await waitUntil('its request', () => held.length === 2);
    held[1]?.end();
    expect((await third.readFinal()).status).to.equal(200);
  });

  it('get their share back when connections end', async () => {
    for (let round = 0; round < 3; round += 1) {
      const client = await send(MAX_WAITING + 1);
      await waitUntil('its first request', () => held.length === 1);
      client.destroy();
      await waitUntil('the end of the connection', () => held[0]?.closed === true);
      held.length = 0;
    }
    const client = await send(3);
    for (const count of [1, 2, 3]) {
      await waitUntil('a request', () => held.length === count);
      held[count - 1]?.end();
      expect((await client.readFinal()).status).to.equal(200);
    }
  });

  it('are closed within one segment', async () => {
    const client = await send(MAX_WAITING * 20);
    await client.closed();
    expect(client.unread).to.equal('');
    const next = await send(1);
    await waitUntil('a request', () => held.length > 0);
    held.at(-1)?.end();
    expect((await next.readFinal()).status).to.equal(200);
  });
});
