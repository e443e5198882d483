import { request } from 'node:http';
import { expect } from 'chai';
import { acceptKey } from '../../core/lib/websocket/handshake.js';
import { createMask } from '../../core/provider/mask-failure.js';
import { describeModule } from '../support/http/modules.js';
import { type Answer, useScriptedProvider } from '../support/http/use-scripted-provider.js';
import { KEY } from '../support/http/use-websockets.js';

const TOKEN = 'dev-service:quoted-by-the-provider:use';
const ENCODED = Buffer.from(TOKEN).toString('base64url');
const COOKIE = 'session-of-another-user';
const OWNER = 'sre@shop.example';
const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': KEY,
};
const BEARER = { authorization: `Bearer ${TOKEN}`, cookie: `sid=${COOKIE}` };
const route = (path: string, operation: object = {}) => ({
  method: 'GET',
  path,
  capability: 'use',
  access: 'public',
  operation,
});
const ROUTES = [
  route('/json'),
  route('/kept', { cache: { ttl_ms: 60_000, shared: true } }),
  route('/images', { response: 'bytes', response_types: ['image/*'] }),
  route('/sse', { stream: 'sse' }),
  route('/socket', { stream: 'websocket' }),
];

const typed =
  (type: string, status = 200): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': type }).end('<p>');
const encoded: Answer = (_request, response) =>
  void response
    .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': TOKEN })
    .end('data: 1\n\n');

describe('a provider that quotes its caller', () => {
  const setup = useScriptedProvider((url) => {
    const describe = (name: string, endpoint: string, overrides: object = {}) =>
      describeModule(name, endpoint, ROUTES, {
        public: true,
        owner: { name: 'Shop', contact: OWNER },
        breaker: { failures: 1000 },
        ...overrides,
      });
    return {
      'plain.json': describe('plain', url),
      'raw.json': describe('raw', url, { responses: { mode: 'raw' } }),
      'away.json': describe('away', 'http://127.0.0.1:9'),
    };
  });
  before(() => {
    setup.provider.onUpgrade((incoming, connection) => {
      const accept = acceptKey(incoming.headers['sec-websocket-key'] ?? '');
      connection.on('error', () => {});
      connection.end(
        [
          'HTTP/1.1 101 Switching Protocols',
          'connection: Upgrade',
          'upgrade: websocket',
          `sec-websocket-accept: ${accept}`,
          ...answered,
          '\r\n',
        ].join('\r\n'),
      );
    });
  });
  let answered: readonly string[] = [];

  const send = (path: string, headers: Readonly<Record<string, string>>) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const { port } = setup.host;
      request({ host: '127.0.0.1', port, path: `/modules/${path}`, headers, agent: false })
        .on('response', async (response) => {
          let text = '';
          for await (const part of response) text += part;
          resolve({ status: response.statusCode ?? 0, text });
        })
        .on('upgrade', (_response, socket) => {
          socket.destroy();
          resolve({ status: 101, text: '' });
        })
        .on('error', reject)
        .end();
    });

  const expectHidden = async (mark: string) => {
    const call = await setup.lastCall();
    expect(call['failure_detail'], JSON.stringify(call)).to.include(mark).and.include('[redacted]');
    const explained = await fetch(
      `${setup.host.url}/explain?request_id=${String(call['request_id'])}`,
      { headers: { authorization: 'Bearer dev-system:root' } },
    );
    const texts = [JSON.stringify(call), await explained.text(), setup.host.output()];
    for (const text of texts) {
      for (const secret of [TOKEN, ENCODED, COOKIE, encodeURIComponent(TOKEN)]) {
        expect(text).not.to.include(secret);
      }
    }
  };

  const QUOTES: readonly (readonly [name: string, path: string, Answer, mark: string])[] = [
    ['its token as a type of JSON', 'plain/http/json', typed(`text/${TOKEN}`), 'content-type'],
    ['it in a parameter', 'plain/http/json', typed(`text/html; a="${TOKEN}"`), 'content-type'],
    ['it in base64', 'plain/http/json', typed(`text/${ENCODED}`), 'content-type'],
    [
      'it percent-encoded',
      'plain/http/json',
      typed(`text/html; a="${encodeURIComponent(TOKEN)}"`),
      'content-type',
    ],
    ['a cookie', 'plain/http/json', typed(`text/${COOKIE}`), 'content-type'],
    ['it as a type of bytes', 'plain/http/images', typed(`text/${ENCODED}`), 'content-type'],
    ['it as a type of events', 'plain/http/sse', typed(`text/${ENCODED}`), 'content-type'],
    [
      'it as the type of a raw error',
      'raw/http/json',
      typed(`text/${ENCODED}`, 500),
      'content-type',
    ],
    ['it as a raw type', 'raw/http/json', typed(`text/${ENCODED}`), 'content-type'],
    ['it as a content-encoding', 'raw/http/sse', encoded, 'content-encoding'],
    ['it to a cached route', 'plain/http/kept', typed(`text/${ENCODED}`), 'content-type'],
  ];
  for (const [name, path, answer, mark] of QUOTES) {
    it(`does not get ${name} into logs and records`, async () => {
      setup.answer(answer);
      await send(path, { ...BEARER, accept: 'text/event-stream, */*' });
      await expectHidden(mark);
    });
  }

  for (const [name, protocols, lines] of [
    ['the subprotocol', `modgate.v1, modgate.bearer.${ENCODED}`, ['sec-websocket-protocol']],
    ['an extension', `modgate.v1, modgate.bearer.${ENCODED}`, ['sec-websocket-extensions']],
  ] as const) {
    it(`does not get ${name} with the credential into logs and records`, async () => {
      answered = lines.map((header) => `${header}: modgate.bearer.${ENCODED}`);
      const headers = { ...HANDSHAKE, 'sec-websocket-protocol': protocols };
      expect((await send('plain/http/socket', headers)).status).to.equal(502);
      await expectHidden('modgate.bearer.');
    });
  }

  it('gets it there where a host masks its own credentials alone', () => {
    const quote = `sec-websocket-protocol modgate.bearer.${ENCODED}`;
    expect(createMask([])(quote)).to.include(ENCODED);
    expect(createMask([], { mask: () => 'masked' })(quote)).to.equal('masked');
  });

  it('or that is down does not reveal its owner to callers without credentials', async () => {
    setup.answer(typed('text/html'));
    for (const path of [
      ...['away/http/json', 'away/http/kept', 'away/http/images', 'away/http/sse'],
      ...['plain/http/json', 'plain/http/images', 'plain/http/sse', 'raw/http/json'],
    ]) {
      const accept = { accept: 'text/event-stream, */*' };
      const open = await send(path, accept);
      expect(open.status, path).to.equal(502);
      expect(open.text, path).to.include('next_actions').and.not.include(OWNER);
      expect(open.text, path).not.include('Shop');
      const known = await send(path, { ...BEARER, ...accept });
      expect(known.text, path).to.include(OWNER);
      expect(known.text, path).not.include('ask the owners of the module');
    }
  });

  it('or whose stream breaks off names its owner to authenticated callers alone', async () => {
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      setImmediate(() => response.destroy());
    });
    const accept = { accept: 'text/event-stream' };
    const open = await send('plain/http/sse', accept);
    expect(open.text).to.include('modgate.problem').and.not.include(OWNER);
    expect((await send('plain/http/sse', { ...BEARER, ...accept })).text).to.include(OWNER);
  });
});
