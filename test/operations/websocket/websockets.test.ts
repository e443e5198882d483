import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { ROOT } from '../../support/http/call.js';
import {
  AUTHORIZATION,
  createFrame,
  echo,
  openRaw,
  useWebSockets,
  writeAccepted,
  writeHandshake,
} from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';

const TEXT = 0x1;
const CLOSE = 0x8;
const MASK = Buffer.from([1, 2, 3, 4]);
const PATH = '/modules/chat/http/socket';
const PROTOCOLS_ERROR = 'sec-websocket-protocol';

describe('WebSockets', () => {
  const setup = useWebSockets();
  const recorded = (expected: object) =>
    waitUntil(`the call is recorded with ${JSON.stringify(expected)}`, async () => {
      const call = await setup.lastCall();
      return Object.entries(expected).every(([name, value]) => call[name] === value);
    });
  const raw = async (text: string) => {
    const client = await openRaw(setup.host.port);
    client.write(Buffer.from(text, 'latin1'));
    return client;
  };

  it('pass messages of both ends, and their close', async () => {
    const server = new WebSocketServer({ noServer: true });
    setup.upgrade((request, connection, head) => {
      expect(request.url).to.equal('/socket?room=a%20b');
      expect(request.headers).to.include({ 'modgate-actor': 'system:root', upgrade: 'websocket' });
      expect(request.headers).not.to.have.any.keys('authorization', 'modgate-deadline-ms');
      server.handleUpgrade(request, connection, head, (peer) => {
        peer.on('message', (data, isBinary) => peer.send(data, { binary: isBinary }));
      });
    });
    const url = setup.url('chat', '/socket?room=a%20b');
    const client = new WebSocket(url, { headers: AUTHORIZATION });
    client.on('open', () => client.send('hello'));
    const [data] = await once(client, 'message');
    expect(String(data)).to.equal('hello');
    client.close(4000, 'done');
    const [code, reason] = await once(client, 'close');
    expect([code, String(reason)]).to.deep.equal([4000, 'done']);
    await recorded({
      status: 101,
      closed_by: 'caller',
      close_code: 4000,
      frames_in: 2,
      frames_out: 2,
    });
    expect(await setup.lastCall()).to.include({
      bytes_in: 6 + 5 + 6 + 6,
      bytes_out: 2 + 5 + 2 + 6,
      stream_end: null,
      failure: null,
    });
  });

  it('answer with what the provider chose, and a key of their own', async () => {
    let key: string | undefined;
    setup.upgrade((request, connection) => {
      key = request.headers['sec-websocket-key'];
      expect(request.headers).to.include({
        'sec-websocket-protocol': 'mqtt, stomp',
        'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
      });
      const chosen = [
        'sec-websocket-protocol: stomp',
        'sec-websocket-extensions: permessage-deflate',
      ];
      connection.end(writeAccepted(request, chosen));
    });
    const client = await raw(
      writeHandshake(PATH, {
        'sec-websocket-protocol': 'mqtt, modgate.v1, stomp',
        'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
      }),
    );
    const head = (await client.ended()).toString('latin1');
    expect(head).to.match(/^HTTP\/1\.1 101 Switching Protocols\r\nx-request-id: /);
    expect(head).to.include('sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n');
    expect(head).to.include('sec-websocket-protocol: stomp\r\n');
    expect(head).to.include('sec-websocket-extensions: permessage-deflate\r\n');
    expect(head).to.match(/\r\nconnection: Upgrade\r\n/i);
    expect(key)
      .to.match(/^[\w+/]{22}==$/)
      .and.not.equal('dGhlIHNhbXBsZSBub25jZQ==');
  });

  it('take a token among the subprotocols, which no provider sees', async () => {
    const credentials: (string | undefined)[] = [];
    setup.upgrade((request, connection, head) => {
      credentials.push(request.headers['sec-websocket-protocol']);
      echo(request, connection, head);
    });
    const bearer = `modgate.bearer.${Buffer.from(ROOT).toString('base64url')}`;
    const open = async (...protocols: string[]) => {
      const client = new WebSocket(setup.url('chat'), protocols);
      await once(client, 'open');
      client.terminate();
      return client.protocol;
    };
    expect(await open(bearer, 'modgate.v1')).to.equal('modgate.v1');
    expect(credentials).to.deep.equal([undefined]);
  });

  for (const [title, protocols, more, status, field] of [
    ['without modgate.v1', 'modgate.bearer.ZGV2', { authorization: null }, 400, PROTOCOLS_ERROR],
    [
      'two tokens',
      'modgate.v1, modgate.bearer.ZGV2, modgate.bearer.ZGV3',
      { authorization: null },
      400,
      PROTOCOLS_ERROR,
    ],
    [
      'a token that is not valid',
      'modgate.v1, modgate.bearer.ZGV2',
      { authorization: null },
      401,
      'authorization',
    ],
    [
      'a token that is no base64url',
      'modgate.v1, modgate.bearer.Z*',
      { authorization: null },
      401,
      'authorization',
    ],
    ['a token beside authorization', 'modgate.v1, modgate.bearer.ZGV2', {}, 401, 'authorization'],
    ['repeated subprotocols', 'mqtt, mqtt', {}, 400, PROTOCOLS_ERROR],
    ['subprotocols that are no tokens', 'mq tt', {}, 400, PROTOCOLS_ERROR],
  ] as const) {
    it(`reject ${title}`, async () => {
      setup.upgrade(() => {
        throw new Error('the provider must not be called');
      });
      const client = await raw(
        writeHandshake(PATH, { 'sec-websocket-protocol': protocols, ...more }),
      );
      const text = (await client.ended()).toString('latin1');
      expect(text).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      expect(text)
        .to.include(`"field":"${field}"`)
        .and.to.match(/connection: close/i);
    });
  }

  it('are 426 for anything but a handshake', async () => {
    const cases: readonly Readonly<Record<string, string | null>>[] = [
      { upgrade: null },
      { upgrade: null, 'sec-websocket-key': null },
      { upgrade: 'h2c' },
      { connection: 'keep-alive' },
      { 'sec-websocket-version': '8' },
      { 'sec-websocket-key': 'short' },
      { 'content-length': '2' },
    ];
    for (const changes of cases) {
      const client = await raw(`${writeHandshake(PATH, changes)}{}`);
      const text = (await client.ended()).toString('latin1');
      expect(text, JSON.stringify(changes)).to.match(/^HTTP\/1\.1 426 Upgrade Required/);
      expect(text)
        .to.match(/\r\nupgrade: websocket\r\n/)
        .and.to.include('"upgrade_required"');
      const isDropped = changes['upgrade'] === null && !('sec-websocket-key' in changes);
      expect(text.includes('let the proxy in front of the host pass upgrade')).to.equal(isDropped);
    }
  });

  it('coexist with an ordinary route, which gets all other requests', async () => {
    setup.upgrade(echo);
    setup.answer((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"polled":true}');
    });
    const response = await setup.fetch('chat', '/both');
    expect(await response.json()).to.have.nested.property('data.polled', true);
    const client = new WebSocket(setup.url('chat', '/both'), { headers: AUTHORIZATION });
    await once(client, 'open');
    client.terminate();
  });

  it('do not affect other routes, which ignore a handshake', async () => {
    setup.answer((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{}');
    });
    const client = await raw(writeHandshake('/modules/chat/http/items'));
    expect((await client.ended()).toString('latin1')).to.match(/^HTTP\/1\.1 200 OK/);
    const host = await raw(writeHandshake('/modules'));
    expect((await host.ended()).toString('latin1')).to.match(/^HTTP\/1\.1 200 OK/);
  });

  it('hold back what follows a handshake until they are open', async () => {
    const handshakes: (() => void)[] = [];
    let received: Uint8Array = Buffer.alloc(0);
    setup.upgrade((request, connection, head) => {
      received = head;
      connection.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
      });
      handshakes.push(() => connection.write(writeAccepted(request)));
    });
    const early = createFrame(TEXT, 'early', { mask: MASK });
    const later = createFrame(TEXT, 'later', { mask: MASK });
    const client = await raw(writeHandshake(PATH) + early.toString('latin1'));
    await waitUntil('the provider has the handshake', () => handshakes.length > 0);
    client.write(later);
    expect(received.length).to.equal(0);
    handshakes[0]?.();
    await client.until('\r\n\r\n');
    const all = Buffer.concat([early, later]);
    await waitUntil('the frames are there', () => received.length >= all.length);
    expect(received).to.deep.equal(all);
    client.socket.destroy();
  });

  it('treat any other answer of the provider as one over HTTP', async () => {
    setup.upgrade((_request, connection) => {
      connection.end(
        'HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
      );
    });
    const envelope = await raw(writeHandshake(PATH));
    expect((await envelope.ended()).toString('latin1')).to.match(/^HTTP\/1\.1 502 /);
    const plain = await raw(writeHandshake('/modules/raw/http/socket'));
    expect((await plain.ended()).toString('latin1')).to.match(/^HTTP\/1\.1 403 Forbidden/);
  });

  for (const [title, lines, detail] of [
    ['a wrong accept', ['sec-websocket-accept: AAAA'], 'sec-websocket-accept'],
    [
      'a subprotocol that was not offered',
      ['sec-websocket-protocol: xmpp'],
      'sec-websocket-protocol',
    ],
    [
      'an extension that was not offered',
      ['sec-websocket-extensions: permessage-deflate'],
      'sec-websocket-extensions',
    ],
    ['another protocol', ['upgrade: h2c'], 'upgrade'],
  ] as const) {
    it(`are 502 where the provider answers with ${title}`, async () => {
      setup.upgrade((request, connection) => {
        connection.resume().write(writeAccepted(request, lines));
      });
      const client = await raw(writeHandshake(PATH, { 'sec-websocket-protocol': 'mqtt' }));
      expect((await client.ended()).toString('latin1')).to.match(/^HTTP\/1\.1 502 /);
      await recorded({ status: 502, failure: 'protocol' });
      expect((await setup.lastCall())['failure_detail']).to.match(new RegExp(`^${detail} `));
      await waitUntil('the connection is closed', () => setup.provider.sockets.size === 0);
    });
  }

  it('are closed with 1001 after silence, and at their longest', async () => {
    setup.upgrade((request, connection, head) => {
      const server = new WebSocketServer({ noServer: true });
      server.handleUpgrade(request, connection, head, () => {});
    });
    for (const module of ['quick', 'short']) {
      const client = new WebSocket(setup.url(module), { headers: AUTHORIZATION });
      const [code] = await once(client, 'close');
      expect(code).to.equal(1001);
      await recorded({ module, status: 101, closed_by: 'host', close_code: 1001 });
    }
  });

  it('are closed with 1009 for a frame that is too large, and with 1002 for a bad one', async () => {
    setup.upgrade(echo);
    for (const [frame, code] of [
      [createFrame(TEXT, 'x'.repeat(1025), { mask: MASK }), 1009],
      [createFrame(TEXT, 'not masked'), 1002],
      [createFrame(0x3, '', { mask: MASK }), 1002],
      [createFrame(TEXT, 'x', { mask: MASK, rsv: 4 }), 1002],
    ] as const) {
      const client = await raw(writeHandshake('/modules/quick/http/socket'));
      await client.until('\r\n\r\n');
      client.write(frame);
      const rest = await client.ended();
      expect(rest.subarray(-4)).to.deep.equal(createFrame(CLOSE, [code >> 8, code & 0xff]));
      await recorded({ closed_by: 'host', close_code: code, frames_in: 0 });
    }
  });

  it('are at most as many as the module allows, of one caller and in all', async () => {
    setup.upgrade(echo);
    const clients = await Promise.all(
      [1, 2].map(async () => {
        const client = new WebSocket(setup.url('quick'), { headers: AUTHORIZATION });
        await once(client, 'open');
        return client;
      }),
    );
    const third = await raw(writeHandshake('/modules/quick/http/socket'));
    const text = (await third.ended()).toString('latin1');
    expect(text)
      .to.match(/^HTTP\/1\.1 429 /)
      .and.to.match(/retry-after: 1\r\n/i);
    for (const client of clients) client.terminate();
  });

  it('do not count when the provider answers over HTTP', async () => {
    setup.upgrade((_request, connection) => {
      connection.end(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
      );
    });
    // Two may be open at a time.
    for (let count = 1; count <= 3; count += 1) {
      const client = await raw(writeHandshake('/modules/quick/http/socket'));
      expect((await client.ended()).toString('latin1')).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    }
  });

  it('end both ends within a second when one of them breaks off', async () => {
    setup.upgrade(echo);
    const client = await raw(writeHandshake(PATH));
    await client.until('\r\n\r\n');
    client.socket.destroy();
    await waitUntil('the connection is closed', () => setup.provider.sockets.size === 0);
    await recorded({ status: 101, closed_by: 'caller', close_code: 1006 });
    const other = await raw(writeHandshake(PATH));
    await other.until('\r\n\r\n');
    for (const socket of setup.provider.sockets) socket.destroy();
    await other.ended();
    await recorded({ closed_by: 'provider', close_code: 1006 });
  });
});
