import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { useExpiringToken } from '../../support/auth/use-expiring-token.js';
import { describeModule } from '../../support/http/modules.js';
import {
  AUTHORIZATION,
  createFrame,
  echo,
  echoMessages,
  openRaw,
  ROUTES,
  useWebSockets,
  writeAccepted,
  writeHandshake,
} from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';

const TEXT = 0x1;
const CLOSE = 0x8;
const SERVICE_RESTART = 1012;
const POLICY_VIOLATION = 1008;
const MASK = Buffer.from([1, 2, 3, 4]);
const closeFrame = (code: number) => createFrame(CLOSE, [code >> 8, code & 0xff]);

describe('the end of WebSockets', () => {
  const setup = useWebSockets(['--drain-ms', '300']);
  const openSocket = async (module: string) => {
    const socket = new WebSocket(setup.url(module), { headers: AUTHORIZATION });
    await once(socket, 'open');
    return socket;
  };
  const reload = (module: string) =>
    setup.host.drop(
      `${module}.json`,
      describeModule(module, setup.provider.url, ROUTES, { limits: { timeout_ms: 4000 } }),
    );

  it('comes with 1012 after a reload of their module, and with no other', async () => {
    const codes: number[] = [];
    setup.upgrade((request, connection, head) => {
      echoMessages(request, connection, head);
      // Runs before the server removes the mask in place.
      connection.prependListener('data', (chunk: Buffer) => {
        const [first, second, ...rest] = chunk;
        // The frame is masked, as every frame of a client.
        if (first !== 0x88 || second !== 0x82) return;
        const [high = 0, low = 0] = rest.slice(4, 6).map((byte, at) => byte ^ (rest[at] ?? 0));
        codes.push(high * 0x100 + low);
      });
    });
    const [ended, kept] = [await openSocket('chat'), await openSocket('raw')];
    reload('chat');
    const [code] = await once(ended, 'close');
    expect(code).to.equal(SERVICE_RESTART);
    await waitUntil('the provider has its close frame', () => codes.length > 0);
    expect(codes).to.deep.equal([SERVICE_RESTART]);
    await waitUntil('it is recorded', async () => {
      const { module, closed_by, close_code } = await setup.lastCall();
      return module === 'chat' && closed_by === 'host' && close_code === SERVICE_RESTART;
    });
    kept.send('still there');
    expect(String((await once(kept, 'message'))[0])).to.equal('still there');
    kept.terminate();
  });

  it('is that of the connection where a frame has begun', async () => {
    setup.upgrade((request, connection) => {
      const half = createFrame(TEXT, 'a message of which half comes').subarray(0, 12);
      connection.write(Buffer.concat([Buffer.from(writeAccepted(request)), half]));
      connection.resume();
    });
    const client = await openRaw(setup.host.port);
    client.write(writeHandshake('/modules/short/http/socket'));
    await client.until('a message');
    const all = await client.ended();
    expect(all.subarray(-10).toString()).to.equal('a message ');
  });

  it('comes with 1012 after a reload that began before the handshake was answered', async () => {
    const accept: (() => void)[] = [];
    setup.upgrade((request, connection, head) => {
      accept.push(() => echo(request, connection, head));
    });
    const client = await openRaw(setup.host.port);
    client.write(writeHandshake('/modules/raw/http/socket'));
    await waitUntil('the provider has the handshake', () => accept.length === 1);
    reload('raw');
    setup.answer((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{}');
    });
    await waitUntil('the new version serves, in the mode of the envelope', async () => {
      const response = await setup.fetch('raw', '/items');
      return ((await response.json()) as { status?: string }).status === 'forwarded';
    });
    accept[0]?.();
    const all = await client.ended();
    expect(all.subarray(-4)).to.deep.equal(closeFrame(SERVICE_RESTART));
  });

  it('comes with 1012 in a shutdown, drain-ms after it began', async () => {
    setup.upgrade(echoMessages);
    const socket = await openSocket('chat');
    const stopped = setup.host.stop();
    socket.send('while it drains');
    expect(String((await once(socket, 'message'))[0])).to.equal('while it drains');
    const [code] = await once(socket, 'close');
    expect(code).to.equal(SERVICE_RESTART);
    await stopped;
  });
});

describe('WebSockets and credentials', () => {
  const setup = useExpiringToken(
    (url) => ({ 'chat.json': describeModule('chat', url, ROUTES) }),
    () => {},
  );

  it('are closed with 1008 when the credential expires', async () => {
    setup.provider.onUpgrade(echo);
    const url = `${setup.host.url.replace('http', 'ws')}/modules/chat/http/socket`;
    const bearer = `modgate.bearer.${Buffer.from(setup.token).toString('base64url')}`;
    const socket = new WebSocket(url, ['modgate.v1', bearer]);
    await once(socket, 'open');
    const [code] = await once(socket, 'close');
    expect(code).to.equal(POLICY_VIOLATION);
    expect(Date.now()).to.be.at.least(setup.expiresAt);
  });
});

describe('pipelined handshakes', () => {
  const setup = useWebSockets();
  const CALL = `GET /modules/chat/http/items HTTP/1.1\r\nhost: localhost\r\nauthorization: ${AUTHORIZATION.authorization}\r\n\r\n`;
  const HANDSHAKE = writeHandshake('/modules/chat/http/socket');

  it('wait for the answers to the requests before them', async () => {
    const answers: (() => void)[] = [];
    setup.answer((_request, response) => {
      answers.push(() => response.setHeader('content-type', 'application/json').end('{}'));
    });
    let isAsked = false;
    setup.upgrade((request, connection, head) => {
      isAsked = true;
      echoMessages(request, connection, head);
    });
    const frame = createFrame(TEXT, 'hello', { mask: MASK });
    const client = await openRaw(setup.host.port);
    client.write(Buffer.concat([Buffer.from(CALL + HANDSHAKE), frame]));
    await waitUntil('the provider has the call', () => answers.length === 1);
    expect(isAsked).to.equal(false);
    answers[0]?.();
    await client.until(createFrame(TEXT, 'hello'));
    const text = client.received.toString('latin1');
    expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 101']);
    client.socket.destroy();
  });

  it('end the connection if they get no 101, and no request behind them is handled', async () => {
    let calls = 0;
    setup.answer((_request, response) => {
      calls += 1;
      response.setHeader('content-type', 'application/json').end('{}');
    });
    setup.upgrade((_request, connection) => {
      connection.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
    const client = await openRaw(setup.host.port);
    client.write(CALL + HANDSHAKE + CALL + HANDSHAKE);
    const text = (await client.ended()).toString('latin1');
    expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 502']);
    expect(calls).to.equal(1);
  });
});
