import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { expect } from 'chai';
import { authority, server as certificate } from '../../../support/certificates.js';
import type { Answer } from '../../../support/echo-provider.js';
import { call, parseJson } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const CAPABILITY = 'shop.use';
const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: CAPABILITY }];
const REFUSING = 'http://127.0.0.1:1';
const MAX_LENGTH = 200;
const SECRET = 'hunter2';

const useEndpoint = (module: string, config: object, overrides: object = {}) => ({
  ...describeModule(module, REFUSING, ROUTES, overrides),
  provider: { kind: 'http', config },
});

const html = (body: string): Answer => ({ headers: [['content-type', 'text/html']], body });

const REDIRECT: Answer = {
  status: 302,
  headers: [['location', `http://elsewhere.example/?token=${SECRET}`]],
  body: null,
};

/** The response of the provider, and why it cannot be forwarded. */
const ANSWERS: readonly (readonly [string, Answer, string, RegExp])[] = [
  ['HTML', html(`<p>${SECRET}</p>`), 'protocol', /^content-type text\/html$/],
  ['a redirect', REDIRECT, 'protocol', /^status 302$/],
  ['an error', { status: 500, body: `{"detail":"${SECRET}"}` }, 'status', /^status 500$/],
  ['no JSON', { body: `{"secret": "${SECRET}"` }, 'protocol', /^invalid JSON at byte 20$/],
  ['no text', { body: Buffer.from('"\xff"', 'latin1') }, 'protocol', /^invalid UTF-8 at byte 1$/],
  [
    'gzip',
    {
      headers: [
        ['content-type', 'application/json'],
        ['content-encoding', 'gzip'],
      ],
      body: '{}',
    },
    'protocol',
    /^content-encoding gzip$/,
  ],
  ['no type', { headers: [], body: '{}' }, 'protocol', /^content-type missing$/],
  [
    'a long type',
    { headers: [['content-type', `text/${'x'.repeat(400)}`]], body: '{}' },
    'protocol',
    /^content-type text\/x+…$/,
  ],
  ['a reset', { raw: [], finally: 'reset' }, 'unavailable', /^ECONNRESET$/],
  ['nothing', { raw: [], finally: 'end' }, 'unavailable', /^connection closed$/],
  [
    'half of its body',
    {
      raw: [`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{}`],
      finally: 'end',
    },
    'protocol',
    /^response cut short or malformed: connection closed$/,
  ],
  [
    'another protocol',
    { raw: [`SSH-2.0-${SECRET}\r\n`], finally: 'end' },
    'protocol',
    /^response cut short or malformed: Expected HTTP\/, RTSP\/ or ICE\/$/,
  ],
  [
    'a line break without a carriage return',
    { raw: [`HTTP/1.1 200 OK\r\nx-secret: ${SECRET}\ncontent-type: application/json\r\n\r\n`] },
    'protocol',
    /^response cut short or malformed: Missing expected CR after header value$/,
  ],
  [
    'two lengths',
    { raw: ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}'] },
    'protocol',
    /^response cut short or malformed: malformed head$/,
  ],
  [
    'a long head',
    { raw: [`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`] },
    'protocol',
    /^response cut short or malformed: head is too large$/,
  ],
  [
    'a bad chunk',
    {
      raw: [
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n',
        'transfer-encoding: chunked\r\n\r\nxyz\r\n',
      ],
    },
    'protocol',
    /^response cut short or malformed: Invalid character in chunk size$/,
  ],
  [
    'a second 100 Continue',
    { raw: ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(2)] },
    'protocol',
    /^response cut short or malformed: 100 Continue without expect$/,
  ],
  [
    'another protocol after 101',
    { raw: ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'] },
    'protocol',
    /^response cut short or malformed: 101 Switching Protocols without upgrade$/,
  ],
  ['nothing in time', { raw: [], finally: 'hang' }, 'timeout', /^no response within 2000 ms$/],
];

describe('the detail of a failure', () => {
  let tls: Server;
  let tlsPort = 0;

  before(async () => {
    tls = createServer({ key: certificate.key, cert: certificate.cert });
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    tlsPort = (tls.address() as AddressInfo).port;
  });

  after(() => new Promise((resolve) => tls.close(resolve)));

  const limits = { timeout_ms: 2000, concurrency: 2, queue: 0 };
  const setup = useHost((provider) => {
    const over = (servername: string) => ({
      endpoints: [`https://127.0.0.1:${tlsPort}`],
      tls: { servername, ca: './ca.pem' },
    });
    return {
      'ca.pem': authority,
      'shop.json': describeModule('shop', provider.url, ROUTES, {
        limits,
        retry: { attempts: 0 },
        breaker: { failures: 100 },
      }),
      'down.json': useEndpoint('down', { endpoints: [REFUSING] }),
      'dns.json': useEndpoint('dns', { endpoints: ['http://nowhere.invalid'] }),
      'tls.json': useEndpoint('tls', over('other.example')),
      'strict.json': useEndpoint('strict', { endpoints: [`https://127.0.0.1:${tlsPort}`] }),
      'open.json': useEndpoint('open', { endpoints: [REFUSING] }, { breaker: { failures: 1 } }),
    };
  });

  let calls = 0;
  const fail = async (module: string) => {
    calls += 1;
    const id = `call-${calls}`;
    const target = `/modules/${module}/http/items/1`;
    const response = await call(setup.host, { target, headers: [['x-request-id', id]] });
    const problem = expectProblem(response, 502);
    return { id, problem };
  };
  const findLine = (id: string) => setup.host.logs().find((line) => line['request_id'] === id);
  const explain = async (id: string) => {
    const body = parseJson(await call(setup.host, { target: `/explain?request_id=${id}` }));
    return body as unknown as { readonly calls: readonly Record<string, unknown>[] };
  };
  const listCalls = async () =>
    parseJson(await call(setup.host, { target: '/calls' })) as Awaited<ReturnType<typeof explain>>;

  /** The detail is in the log line, the call record and the explanation, but not in the Problem. */
  const expectDetail = async (module: string, failure: string, expected: RegExp) => {
    const { id, problem } = await fail(module);
    await waitUntil('the log line', () => findLine(id) !== undefined);
    const line = findLine(id);
    expect(line).to.include({ level: 'warn', failure });
    const detail = String(line?.['failure_detail']);
    expect(detail).to.match(expected);
    expect(detail.length).to.be.at.most(MAX_LENGTH);
    const record = (await listCalls()).calls.find((record) => record['request_id'] === id);
    expect(record).to.include({ failure, failure_detail: detail });
    expect((await explain(id)).calls).to.deep.equal([record]);
    if (!detail.startsWith('content-type')) {
      expect(JSON.stringify(problem)).to.not.include(detail);
    }
    expect(JSON.stringify([line, record])).to.not.include(SECRET);
  };

  for (const [name, answer, failure, expected] of ANSWERS) {
    it(`is recorded for ${name}`, async () => {
      setup.provider.answer(answer);
      await expectDetail('shop', failure, expected);
    });
  }

  const TYPES: readonly [string, string, 'end' | 'hang'][] = [
    ['a PDF', 'application/pdf', 'end'],
    ['an event stream that does not end', 'text/event-stream', 'hang'],
  ];
  for (const [name, type, end] of TYPES) {
    it(`says to both sides that the route carries JSON, for ${name}`, async () => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`;
      const last = end === 'end' ? '4\r\n%PDF\r\n0\r\n\r\n' : '';
      setup.provider.answer({ raw: [head + last], finally: end });
      const { id, problem } = await fail('shop');
      const words = `content-type ${type}: this route carries JSON; see operation.response and operation.stream`;
      const detail = `the response of the provider of the module cannot be forwarded: ${words}`;
      expect(problem.detail).to.equal(detail);
      const [record] = (await explain(id)).calls;
      expect(record).to.include({ detail, failure_detail: `content-type ${type}` });
    });
  }

  it('names the address that refused the connection', () =>
    expectDetail('down', 'unavailable', /^ECONNREFUSED 127\.0\.0\.1:1$/));

  it('names the host that cannot be resolved', () =>
    expectDetail('dns', 'unavailable', /^(?:ENOTFOUND|EAI_AGAIN) nowhere\.invalid$/));

  it('names the host that a certificate is for', () =>
    expectDetail('tls', 'unavailable', /^certificate for localhost, 127\.0\.0\.1$/));

  it('names the reason why a certificate is not trusted', () =>
    expectDetail('strict', 'unavailable', /^UNABLE_TO_[A-Z_]+$/));

  it('says that the circuit breaker is open, and names the failure that opened it', async () => {
    await fail('open');
    await expectDetail(
      'open',
      'unavailable',
      /^circuit breaker open after ECONNREFUSED 127\.0\.0\.1:\d+$/,
    );
    const opened = setup.host.logs().find(({ msg }) => msg === 'circuit breaker open');
    expect(opened?.['failure_detail']).to.match(/^ECONNREFUSED/);
  });

  it('names the limit of concurrent calls', async () => {
    setup.provider.answer({ raw: [], finally: 'hang' });
    const held = [fail('shop'), fail('shop')];
    await waitUntil('two calls', () => setup.provider.requests.length === 2);
    await expectDetail('shop', 'overloaded', /^concurrency limit 2$/);
    await Promise.all(held);
  });
});
