import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  headerValues,
  RawConnection,
  type RawHeader,
  type ReceivedResponse,
} from '../../../../core/selftest/raw-http.js';
import type { Answer } from '../../../support/echo-provider.js';
import { type Call, call, JSON_TYPE } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';
import { createFolder } from '../../../support/temporary-folder.js';

const APP = 'https://app.example';
const route = (path: string, operation: object = {}, method = 'GET') => ({
  method,
  path,
  capability: 'use',
  operation,
});
const ROUTES = [
  route('/json'),
  route('/json', {}, 'POST'),
  route('/kept', { cache: { ttl_ms: 60_000 } }),
  route('/bytes', { response: 'bytes' }),
  route('/images', { response: 'bytes', response_types: ['image/*'] }),
  route('/images', { body: 'bytes', body_types: ['image/*'] }, 'POST'),
  route('/sse', { stream: 'sse' }),
  route('/lines', { stream: 'ndjson' }),
  route('/socket', { stream: 'websocket' }),
];
const SSE: RawHeader = ['accept', 'text/event-stream'];
const NDJSON: RawHeader = ['accept', 'application/x-ndjson'];
const HANDSHAKE: readonly RawHeader[] = [
  ['connection', 'Upgrade'],
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
  ['sec-websocket-key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
];

/** Not one media type: a browser may find another one in it. */
const SEVERAL = [
  (type: string) => `${type}, text/html`,
  (type: string) => `${type};, text/html`,
  (type: string) => `${type}; charset=utf-8, text/html`,
  (type: string) => `${type}; a="b`,
  (type: string) => `${type} text/html`,
  (type: string) => `${type};a`,
  (type: string) => `text/html, ${type}`,
];

describe('responses of modules', () => {
  let folder = '';
  const args: string[] = [];
  before(() => {
    folder = createFolder();
    writeFileSync(join(folder, 'modgate.yaml'), `cors:\n  origins: [${APP}]\n`);
    args.push('--config', join(folder, 'modgate.yaml'));
  });

  const setup = useHost(
    ({ url }) => ({
      'plain.json': describeModule('plain', url, ROUTES, { mount: [{ path: '/mounted' }] }),
      'raw.json': describeModule('raw', url, ROUTES, {
        responses: { mode: 'raw', redirects: ['module'] },
      }),
      'held.json': describeModule('held', url, ROUTES, {
        responses: { mode: 'raw' },
        limits: { hold_bytes: 1024 },
      }),
      'away.json': describeModule('away', 'http://127.0.0.1:9', ROUTES),
    }),
    { args, isDescribed: false },
  );
  const send = (partial: Call, answer: Answer = {}) => {
    setup.provider.answer(answer);
    return call(setup.host, partial);
  };
  const typed = (type: string, body = '{"a":1}\n', status = 200): Answer => ({
    status,
    headers: [['content-type', type]],
    body,
  });

  const ANSWERS: Readonly<Record<string, readonly [Call, Answer?, number?]>> = {
    'an envelope': [{ target: '/modules/plain/http/json' }],
    'an envelope below a mount': [{ target: '/mounted/json' }],
    'an unknown path below a mount': [{ target: '/mounted/none' }, {}, 404],
    'a response to HEAD': [{ target: '/modules/plain/http/json', method: 'HEAD' }],
    'raw JSON': [{ target: '/modules/raw/http/json' }],
    'a raw 204': [{ target: '/modules/raw/http/json' }, { status: 204, body: null }, 204],
    'a raw 304': [{ target: '/modules/raw/http/json' }, { status: 304, body: null }, 304],
    'a raw error without its body': [
      { target: '/modules/raw/http/json' },
      typed('text/html', '<p>', 500),
      500,
    ],
    'a redirect': [
      { target: '/modules/raw/http/json' },
      { status: 302, headers: [['location', 'kept']], body: null },
      302,
    ],
    'streamed JSON': [
      { target: '/modules/held/http/json' },
      typed('application/json', JSON.stringify('x'.repeat(5000))),
    ],
    bytes: [{ target: '/modules/plain/http/bytes' }, typed('text/html', '<p>')],
    'raw bytes': [{ target: '/modules/raw/http/bytes' }, typed('text/html', '<p>', 404), 404],
    'bytes of several types': [
      { target: '/modules/raw/http/bytes' },
      typed('image/png, text/html', '<p>'),
    ],
    events: [{ target: '/modules/plain/http/sse', headers: [SSE] }, typed('text/event-stream')],
    'raw events': [{ target: '/modules/raw/http/sse' }, typed('text/event-stream')],
    lines: [{ target: '/modules/plain/http/lines', headers: [NDJSON] }, typed('application/jsonl')],
    'raw lines': [{ target: '/modules/raw/http/lines' }, typed('application/jsonl')],
    'a response from the cache': [{ target: '/modules/plain/http/kept' }],
    'a response without credentials': [{ target: '/modules/plain/http/json', as: null }, {}, 401],
    'an unknown module': [{ target: '/modules/none/http/json' }, {}, 404],
    'a path that is not of a module': [{ target: '/modules/plain/x' }, {}, 404],
    'a path with dots': [{ target: '/modules/plain/http/a/../b' }, {}, 404],
    'a body that is not JSON': [
      { target: '/modules/plain/http/json', method: 'POST', body: Buffer.from('<') },
      {},
      400,
    ],
    'a failure of the provider': [{ target: '/modules/away/http/json' }, {}, 502],
    'an operation of the console': [
      { target: '/modules/plain/http/console-bridge/use', method: 'POST', body: Buffer.from('{}') },
      {},
      400,
    ],
    'a preflight': [
      {
        target: '/modules/plain/http/json',
        method: 'OPTIONS',
        as: null,
        headers: [
          ['origin', APP],
          ['access-control-request-method', 'GET'],
        ],
      },
      {},
      204,
    ],
    'a response to a page of another origin': [
      { target: '/modules/plain/http/json', headers: [['origin', APP]] },
    ],
    'a rejected head': [
      { target: '/modules/plain/http/json', headers: [['x-long', 'x'.repeat(100_000)]] },
      {},
      431,
    ],
    'a request for a WebSocket without a handshake': [
      { target: '/modules/plain/http/socket' },
      {},
      426,
    ],
    'a handshake without credentials': [
      { target: '/modules/plain/http/socket', as: null, headers: HANDSHAKE },
      {},
      401,
    ],
    'a handshake that the provider answers': [
      { target: '/modules/raw/http/socket', headers: HANDSHAKE },
      typed('application/json'),
    ],
  };

  for (const [name, [partial, answer, status = 200]] of Object.entries(ANSWERS)) {
    it(`are inert: ${name}`, async () => {
      for (let round = 0; round < 2; round += 1) {
        const response = await send(partial, answer);
        expect(response.status).to.equal(status);
        expectInert(response);
      }
    });
  }

  it('are inert: an error of the parser', async () => {
    const connection = await RawConnection.open(setup.host.port);
    connection.write(Buffer.from('GET /modules/plain/http/json HTTP/1.1\r\nbad\r\n\r\n'));
    const response = await connection.readFinal();
    connection.destroy();
    expect(response.status).to.equal(400);
    expectInert(response);
  });

  for (const [path, type, headers] of [
    ['/json', 'application/json', []],
    ['/images', 'image/png', []],
    ['/sse', 'text/event-stream', [SSE]],
    ['/lines', 'application/x-ndjson', [NDJSON]],
  ] as const) {
    it(`are 502 with a content-type that is not one media type: ${path}`, async () => {
      for (const module of ['plain', 'raw', 'held']) {
        const target = `/modules/${module}/http${path}`;
        for (const several of SEVERAL) {
          const response = await send({ target, headers }, typed(several(type)));
          expect(response.status, `${module} ${several(type)}`).to.equal(502);
          expect(response.body.toString()).not.to.include('text/html');
        }
        const own = `${type.toUpperCase()} ; ; a="b, text/html";c=d;`;
        const response = await send({ target, headers }, typed(own));
        expect(response.status, module).to.equal(200);
        const isEvents = headers.length > 0;
        const isEnvelope = module === 'plain' && path === '/json';
        expect(headerValues(response.headers, 'content-type'), module).to.deep.equal([
          isEvents || isEnvelope ? type : own.trim(),
        ]);
      }
    });
  }

  it('are 400 to a body whose content-type is not one media type', async () => {
    for (const [path, type] of [
      ['/json', 'application/json'],
      ['/images', 'image/png'],
    ] as const) {
      const post = (value: string) =>
        send({
          target: `/modules/plain/http${path}`,
          method: 'POST',
          headers: [['content-type', value]],
          body: Buffer.from('{}'),
        });
      for (const several of SEVERAL) expect((await post(several(type))).status).to.equal(400);
      expect((await post(`${type};;a="b, c"`)).status).to.equal(200);
      expect(
        headerValues(setup.provider.requests.at(-1)?.headers ?? [], JSON_TYPE[0]),
      ).to.deep.equal([`${type};;a="b, c"`]);
    }
  });
});

function expectInert({ headers }: ReceivedResponse): void {
  expect(headerValues(headers, 'x-content-type-options')).to.deep.equal(['nosniff']);
  expect(headerValues(headers, 'content-security-policy')).to.deep.equal([
    "sandbox; default-src 'none'",
  ]);
}
