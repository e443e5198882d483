import { expect } from 'chai';
import { headerValue, headerValues, type RawHeader } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule, describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

// The forwarded headers, and those that HTTP/1.1 needs between the host and the provider.
const ALLOWED = [
  'accept',
  'accept-encoding',
  'content-type',
  'x-request-id',
  'x-correlation-id',
  'traceparent',
  'tracestate',
  'modgate-deadline-ms',
  'accept-language',
  'idempotency-key',
  'if-match',
  'prefer',
  'modgate-actor',
  'modgate-call-id',
  'host',
  'connection',
  'content-length',
];
/** Conditions that only writes have in envelope mode. */
const OF_WRITES = ['if-none-match', 'if-unmodified-since'];
const ALWAYS = [
  'accept',
  'accept-encoding',
  'x-request-id',
  'x-correlation-id',
  'modgate-deadline-ms',
  'modgate-actor',
  'modgate-call-id',
  'host',
];
const EVERYTHING: readonly RawHeader[] = [
  ['accept', 'text/html, application/problem+json'],
  ['accept-charset', 'utf-8'],
  ['accept-encoding', 'gzip, br'],
  ['accept-language', 'de-DE, de;q=0.9'],
  ['cache-control', 'no-cache'],
  ['content-language', 'de'],
  ['content-md5', 'x'],
  ['cookie', 'session=secret'],
  ['cookie2', 'x'],
  ['date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['dnt', '1'],
  ['forwarded', 'for=10.0.0.1'],
  ['from', 'a@example.com'],
  ['idempotency-key', 'key-1'],
  ['if-match', '"abc"'],
  ['if-modified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['if-none-match', '"abc"'],
  ['keep-alive', 'timeout=5'],
  ['max-forwards', '1'],
  ['origin', 'http://127.0.0.1'],
  ['pragma', 'no-cache'],
  ['prefer', 'return=minimal'],
  ['proxy-authorization', 'Bearer secret'],
  ['proxy-connection', 'keep-alive'],
  ['range', 'bytes=0-1'],
  ['referer', 'http://127.0.0.1/x'],
  ['te', 'trailers'],
  ['trailer', 'x-a'],
  ['upgrade', 'h2c'],
  ['user-agent', 'probe/1'],
  ['via', '1.1 x'],
  ['x-api-key', 'secret'],
  ['x-forwarded-for', '10.0.0.1'],
  ['x-forwarded-host', 'example.com'],
  ['x-forwarded-proto', 'https'],
  ['x-http-method-override', 'DELETE'],
  ['x-original-url', '/b'],
  ['x-real-ip', '10.0.0.1'],
  ['x-tenant', 't1'],
];
const SPOOFED = [
  'modgate-actor',
  'Modgate-Actor',
  'MODGATE-ACTOR',
  'modgate_actor',
  'Modgate_Actor',
  'modgate-call-id',
  'modgate_call_id',
  'modgate-deadline-ms',
  'modgate_deadline_ms',
  'modgate-anything',
  'modgate_x',
  'modgate-',
];
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const BAD_TRACEPARENTS = [
  `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
  `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
  `ff-${TRACE_ID}-${PARENT_ID}-01`,
  `00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`,
  `00-${TRACE_ID}-${PARENT_ID}`,
  `00-${TRACE_ID}-${PARENT_ID}-01-extra`,
  `00-${TRACE_ID}-${PARENT_ID}-1`,
  `00-${TRACE_ID}x-${PARENT_ID}-01`,
  `00_${TRACE_ID}_${PARENT_ID}_01`,
  'nonsense',
  '',
];
const VALID_TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const TIMEOUT_MS = 40_000;
const ROUTE_TIMEOUT_MS = 4_000;

describe('provider request', () => {
  const setup = useHost(
    (provider) => ({
      'wide.json': describeWideModule('wide', provider.url),
      'tenant.json': describeWideModule('tenant', provider.url, {
        limits: { timeout_ms: TIMEOUT_MS },
      }),
      'own.json': describeWideModule('own', provider.url, {
        provider: {
          kind: 'http',
          config: { endpoints: [provider.url], auth: { bearer: 'env:CRM_TOKEN' } },
        },
      }),
      'own-file.json': describeWideModule('own-file', provider.url, {
        provider: {
          kind: 'http',
          config: { endpoints: [provider.url], auth: { bearer: 'file:secrets/crm-token' } },
        },
      }),
      'secrets/crm-token': 'own-secret-of-a-file',
      'no-variable.json': describeWideModule('no-variable', provider.url, {
        provider: {
          kind: 'http',
          config: { endpoints: [provider.url], auth: { bearer: 'env:CRM_TOKEN_THAT_IS_NOT_SET' } },
        },
      }),
      'quick.json': describeModule('quick', provider.url, [
        {
          method: 'GET',
          path: '/a',
          capability: 'quick.use',
          operation: { timeout_ms: ROUTE_TIMEOUT_MS },
        },
      ]),
    }),
    // The requests have the headers of proxies.
    { env: { CRM_TOKEN: 'own-secret' }, args: ['--allow-dev-auth-anywhere'] },
  );
  const get = (headers: readonly RawHeader[], module = 'wide') =>
    call(setup.host, { target: `/modules/${module}/http/a`, headers });
  const receivedHeader = (name: string) => headerValue(setup.provider.only().headers, name);
  const names = () => setup.provider.only().headers.map(([name]) => name.toLowerCase());

  it('has only listed headers on GET', async () => {
    expect((await get(EVERYTHING)).status).to.equal(200);
    expect(ALLOWED).to.include.members(names());
    expect(names()).to.include.members(ALWAYS);
    expect(new Set(names()).size, 'each once').to.equal(names().length);
  });

  it('has only listed headers on POST', async () => {
    const response = await call(setup.host, {
      method: 'POST',
      target: '/modules/wide/http/a',
      headers: [...EVERYTHING, JSON_TYPE, ['content-encoding', 'identity']],
      body: Buffer.from('{}'),
    });
    expect(response.status).to.equal(200);
    expect([...ALLOWED, ...OF_WRITES]).to.include.members(names());
    expect(names()).to.include.members([...ALWAYS, 'content-type', 'content-length']);
    expect(new Set(names()).size, 'each once').to.equal(names().length);
    expect(receivedHeader('content-length')).to.equal('2');
  });

  it('has the values of the host, whatever the client sent', async () => {
    await get(EVERYTHING);
    expect(receivedHeader('accept')).to.equal('application/json');
    expect(receivedHeader('accept-encoding')).to.equal('identity');
    expect(receivedHeader('modgate-actor')).to.equal('system:root');
    expect(receivedHeader('host')).to.equal(`127.0.0.1:${setup.provider.port}`);
  });

  it("has the client's values of forwarded headers", async () => {
    await get(EVERYTHING);
    expect(receivedHeader('accept-language')).to.equal('de-DE, de;q=0.9');
    expect(receivedHeader('idempotency-key')).to.equal('key-1');
    expect(receivedHeader('if-match')).to.equal('"abc"');
    expect(receivedHeader('prefer')).to.equal('return=minimal');
  });

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`has the conditions of a ${method}, so that it replaces nothing that it must not`, async () => {
      const sent = method === 'DELETE' ? {} : { body: Buffer.from('{}') };
      const type = method === 'DELETE' ? [] : [JSON_TYPE];
      await call(setup.host, {
        ...{ method, target: '/modules/wide/http/a', ...sent },
        headers: [
          ...type,
          ['if-none-match', '*'],
          ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
          ['if-modified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
        ],
      });
      expect(receivedHeader('if-none-match')).to.equal('*');
      expect(receivedHeader('if-unmodified-since')).to.equal('Thu, 01 Jan 1970 00:00:00 GMT');
      expect(receivedHeader('if-modified-since'), 'of reads alone').to.equal(undefined);
    });
  }

  it('has none of these conditions on HEAD', async () => {
    const headers = [['if-none-match', '*'] as const];
    await call(setup.host, { method: 'HEAD', target: '/modules/wide/http/a', headers });
    expect(receivedHeader('if-none-match')).to.equal(undefined);
  });

  it('has no body on GET, even if the client sent one', async () => {
    const body = Buffer.from('{"a":1}');
    await call(setup.host, { target: '/modules/wide/http/a', headers: [JSON_TYPE], body });
    expect(names()).not.to.include('content-length');
    expect(names()).not.to.include('transfer-encoding');
    expect(setup.provider.only().body).to.have.length(0);
  });

  it('has the ids of the request', async () => {
    const response = await get([
      ['x-request-id', 'r-1'],
      ['x-correlation-id', 'c:1'],
    ]);
    expect(receivedHeader('x-request-id')).to.equal('r-1');
    expect(receivedHeader('x-correlation-id')).to.equal('c:1');
    expect(headerValue(response.headers, 'x-request-id')).to.equal('r-1');
  });

  it('has new ids if the client sent none or malformed ones', async () => {
    const response = await get([['x-request-id', 'a b']]);
    expect(receivedHeader('x-request-id')).to.match(/^req_/);
    expect(receivedHeader('x-correlation-id')).to.match(/^corr_/);
    expect(headerValue(response.headers, 'x-request-id')).to.equal(receivedHeader('x-request-id'));
  });

  it('has a new modgate-call-id for each call', async () => {
    await get([['x-request-id', 'r-1']]);
    await get([['x-request-id', 'r-1']]);
    const ids = setup.provider.requests.map(({ headers }) =>
      headerValue(headers, 'modgate-call-id'),
    );
    expect(new Set(ids).size).to.equal(2);
    for (const id of ids) expect(id).to.be.a('string').and.not.oneOf(['', 'r-1']);
  });

  for (const [as, actor] of [
    ['dev-service:probe-1:wide.use', 'service:probe-1'],
    ['dev-user:ann@example.com:console.admin,wide.use', 'user:ann@example.com'],
    ['dev-system:root', 'system:root'],
  ] as const) {
    it(`has ${actor} as modgate-actor for ${as}`, async () => {
      await call(setup.host, { target: '/modules/wide/http/a', as });
      expect(receivedHeader('modgate-actor')).to.equal(actor);
    });
  }

  for (const name of SPOOFED) {
    it(`drops the client's ${name}`, async () => {
      const headers: RawHeader[] = [[name, 'system:evil']];
      const as = 'dev-service:probe:wide.use';
      const response = await call(setup.host, { target: '/modules/wide/http/a', as, headers });
      expect(response.status).to.equal(200);
      const sent = setup.provider.only().headers;
      expect(JSON.stringify(sent)).not.to.include('evil');
      expect(headerValues(sent, 'modgate-actor')).to.deep.equal(['service:probe']);
      expect(names().filter((name) => /^modgate[-_]/.test(name))).to.have.members([
        'modgate-actor',
        'modgate-call-id',
        'modgate-deadline-ms',
      ]);
    });
  }

  it('drops a listed header that connection names', async () => {
    const headers: RawHeader[] = [
      ['connection', 'Accept-Language, prefer, IF-MATCH, idempotency-key'],
    ];
    await get([...EVERYTHING, ...headers]);
    for (const name of ['accept-language', 'prefer', 'if-match', 'idempotency-key']) {
      expect(receivedHeader(name), name).to.equal(undefined);
    }
  });

  it("keeps the host's headers that connection names", async () => {
    const connection =
      'close, modgate-actor, modgate-call-id, modgate-deadline-ms, accept, accept-encoding';
    expect((await get([['connection', connection]])).status).to.equal(200);
    expect(names()).to.include.members(ALWAYS);
    expect(receivedHeader('modgate-actor')).to.equal('system:root');
  });

  it('keeps its credentials if connection names them', async () => {
    await get([['connection', 'close, authorization']], 'own');
    expect(receivedHeader('authorization')).to.equal('Bearer own-secret');
  });

  it('is sent for a request to upgrade as for any other', async () => {
    const response = await get([
      ['connection', 'upgrade'],
      ['upgrade', 'websocket'],
      ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
    ]);
    expect(response.status).to.equal(200);
    expect(ALLOWED).to.include.members(names());
  });

  it('has no authorization or cookie of the client', async () => {
    await get([['cookie', 'a=b']]);
    expect(names()).not.to.include('authorization');
    expect(names()).not.to.include('cookie');
  });

  it('has credentials from the environment, once', async () => {
    await get([], 'own');
    expect(receivedHeader('authorization')).to.equal('Bearer own-secret');
  });

  it('has credentials from a file', async () => {
    await get([], 'own-file');
    expect(receivedHeader('authorization')).to.equal('Bearer own-secret-of-a-file');
  });

  it('is not sent if its credentials cannot be resolved', async () => {
    expectProblem(await get([], 'no-variable'), 404);
    expect(setup.provider.requests).to.have.length(0);
  });

  it("has a child of the client's traceparent, and its tracestate", async () => {
    await get([
      ['traceparent', `00-${TRACE_ID}-${PARENT_ID}-01`],
      ['tracestate', 'vendor=1,other=x'],
    ]);
    const sent = receivedHeader('traceparent') ?? '';
    expect(sent).to.match(VALID_TRACEPARENT);
    expect(sent.slice(3, 35)).to.equal(TRACE_ID);
    expect(sent.slice(36, 52)).not.to.equal(PARENT_ID);
    expect(sent.slice(53)).to.equal('01');
    expect(receivedHeader('tracestate')).to.equal('vendor=1,other=x');
  });

  it('has another child with each call', async () => {
    const headers: RawHeader[] = [['traceparent', `00-${TRACE_ID}-${PARENT_ID}-00`]];
    await get(headers);
    await get(headers);
    const sent = setup.provider.requests.map((request) =>
      headerValue(request.headers, 'traceparent'),
    );
    expect(new Set(sent).size).to.equal(2);
  });

  for (const traceparent of BAD_TRACEPARENTS) {
    it(`has no tracestate with the traceparent ${JSON.stringify(traceparent)}`, async () => {
      await get([
        ['traceparent', traceparent],
        ['tracestate', 'vendor=1'],
      ]);
      expect(receivedHeader('tracestate')).to.equal(undefined);
      const sent = receivedHeader('traceparent');
      if (sent === undefined) return;
      expect(sent).to.match(VALID_TRACEPARENT);
      expect(sent).not.to.include(TRACE_ID);
    });
  }

  it('has no tracestate without a traceparent', async () => {
    await get([['tracestate', 'vendor=1']]);
    expect(receivedHeader('tracestate')).to.equal(undefined);
  });

  it('has no tracestate with two traceparents', async () => {
    await get([
      ['traceparent', `00-${TRACE_ID}-${PARENT_ID}-01`],
      ['traceparent', `00-${TRACE_ID}-${PARENT_ID}-01`],
      ['tracestate', 'vendor=1'],
    ]);
    expect(receivedHeader('tracestate')).to.equal(undefined);
  });

  for (const [module, most] of [
    ['wide', 5_000],
    ['tenant', TIMEOUT_MS],
    ['quick', ROUTE_TIMEOUT_MS],
  ] as const) {
    it(`has the remaining milliseconds, at most ${most}, from ${module}`, async () => {
      await get([['modgate-deadline-ms', '999999']], module);
      expect(receivedHeader('modgate-deadline-ms')).to.match(/^[1-9][0-9]*$/);
      // More than half is left if the call is sent at once.
      expect(Number(receivedHeader('modgate-deadline-ms'))).to.be.within(most / 2, most);
    });
  }
});
