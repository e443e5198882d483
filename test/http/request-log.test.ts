import { expect } from 'chai';
import type { Log } from '../../core/contract/index.js';
import { createRequestLog } from '../../core/http/request-log.js';
import type { RawHeader } from '../../core/selftest/raw-http.js';
import { silent } from '../store/backend.js';
import { call, JSON_TYPE } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createEnded } from '../support/observability/completed.js';

const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
];
const FIELDS = [
  'level',
  'time',
  'request_id',
  'correlation_id',
  'trace_id',
  'module',
  'method',
  'route',
  'status',
  'actor',
  'client',
  'duration_ms',
  'provider_ms',
  'bytes_in',
  'bytes_out',
  'attempts',
  'failure',
  'failure_detail',
  'msg',
];

describe('request log', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
  }));
  const lineOf = async (id: string, target: string, overrides: object = {}) => {
    const { headers = [], ...rest } = overrides as { headers?: readonly [string, string][] };
    await call(setup.host, { target, headers: [['x-request-id', id], ...headers], ...rest });
    const find = () =>
      setup.host.logs().filter((line) => line['msg'] === 'request' && line['request_id'] === id);
    await waitUntil('the line', () => find().length > 0);
    expect(find()).to.have.length(1);
    return find()[0] ?? {};
  };

  it('has exactly the documented fields', async () => {
    setup.provider.answer({ body: '[1,2]' });
    const body = Buffer.from('{"a":1}');
    const line = await lineOf('post', '/modules/shop/http/items?token=hunter2', {
      method: 'POST',
      headers: [JSON_TYPE, ['x-correlation-id', 'c']],
      body,
      as: 'dev-service:crm:shop.write',
    });
    expect(Object.keys(line)).to.deep.equal(FIELDS);
    expect(line).to.include({
      level: 'info',
      correlation_id: 'c',
      module: 'shop',
      method: 'POST',
      route: '/items',
      status: 200,
      actor: 'service:crm',
      client: '127.0.0.1',
      bytes_in: body.length,
      attempts: 1,
      failure: null,
    });
    expect(line['time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(line['trace_id']).to.match(/^[0-9a-f]{32}$/);
    expect(line['duration_ms']).to.be.a('number').above(Number(line['provider_ms']));
    expect(line['provider_ms']).to.be.above(0);
    const head = '{"status":"forwarded","module_name":"shop","method":"POST"';
    expect(line['bytes_out']).to.be.above(head.length);
  });

  it('adds to the fields of a rejected request why, and never a query', async () => {
    const line = await lineOf('none', '/modules/shop/http/none/x?q=hunter2');
    const rejection = ['code', 'detail', 'errors', 'step', 'path_named'];
    expect(Object.keys(line)).to.deep.equal(FIELDS.toSpliced(-1, 0, ...rejection));
    expect(line).to.include({ module: 'shop', route: null, status: 404, provider_ms: null });
    expect(line).to.include({ step: 'route', path_named: '/modules/shop/http/none/x' });
    const ownLine = await lineOf('own', '/none?q=hunter2');
    expect(ownLine).to.include({
      module: null,
      route: null,
      status: 404,
      actor: null,
      attempts: 0,
    });
    expect(ownLine).to.include({ code: 'not_found', step: 'host', path_named: '/none' });
    expect(setup.host.output()).to.not.include('hunter2');
  });

  it('counts no bytes for a response without a body', async () => {
    const line = await lineOf('head', '/modules/shop/http/items/1', { method: 'HEAD' });
    expect(line).to.include({ method: 'HEAD', status: 200, bytes_out: 0 });
  });

  it('warns of a 502 and names the failure', async () => {
    setup.provider.answer({ raw: [], finally: 'reset' });
    const line = await lineOf('reset', '/modules/shop/http/items/1');
    expect(line).to.include({
      level: 'warn',
      status: 502,
      failure: 'unavailable',
      failure_detail: 'ECONNRESET',
      attempts: 3,
    });
  });
});

describe('data of the client', () => {
  const setup = useHost(
    (provider) => ({
      'shop.json': describeModule('shop', provider.url, ROUTES, {
        forward_headers: ['x-tenant'],
        records: { capture_bytes: 1000 },
      }),
    }),
    { isDescribed: false },
  );

  it('is never in the log, whatever the status', async () => {
    const headers: RawHeader[] = [
      JSON_TYPE,
      ['cookie', 'canary-cookie'],
      ['x-tenant', 'canary-tenant'],
      ['x-api-key', 'canary-key'],
      ['idempotency-key', 'canary-idempotency'],
      ['user-agent', 'canary-agent'],
      ['tracestate', 'canary=state'],
    ];
    const body = Buffer.from('{"text":"canary-body"}');
    const post = (target: string, overrides: object = {}) =>
      call(setup.host, { method: 'POST', target, headers, body, ...overrides });
    await post('/modules/shop/http/items?q=canary-query');
    await post('/modules/shop/http/canary-cookie?canary-query');
    await post('/modules/canary-token/http/items', { as: 'canary-token' });
    await post('/canary-cookie');
    await post('/modules/shop/http/items', { body: Buffer.from('{"text":"canary-bad') });
    await post('/modules/shop/http/items', { as: 'dev-user:' });
    await post('/modules/shop/http/items', { as: 'canary-token' });
    setup.provider.answer({ status: 500, body: '{"detail":"canary-answer"}' });
    await post('/modules/shop/http/items');
    setup.provider.answer({ headers: [['content-type', 'text/plain']], body: 'canary-answer' });
    await post('/modules/shop/http/items');
    const count = () => setup.host.logs().filter(({ msg }) => msg === 'request').length;
    await waitUntil('the lines', () => count() === 9);
    expect(setup.host.output()).to.not.include('canary');
  });
});

describe('sampling of the request log', () => {
  const count = (successSample: number, status: number, isForwarded = true) => {
    let lines = 0;
    const log = { ...silent, info: () => lines++, warn: () => lines++ } as unknown as Log;
    const observe = createRequestLog({ log, successSample, logViolations: () => {} });
    for (let id = 0; id < 10_000; id += 1) {
      const ended = createEnded(id, status);
      ended.facts.kind = isForwarded ? 'forwarded' : null;
      observe(ended);
    }
    return lines;
  };

  it('logs the configured share of successes, and all by default', () => {
    // Ten times the standard deviation.
    expect(count(0.2, 200)).to.be.within(1600, 2400);
    expect(count(1, 204)).to.equal(10_000);
    expect(count(0, 200)).to.equal(0);
  });

  it('logs every request with an error', () => {
    for (const status of [400, 403, 404, 499, 500, 502]) {
      expect(count(0, status), String(status)).to.equal(10_000);
    }
  });

  it('limits the lines of requests without an actor, and logs how many were omitted', async () => {
    const anonymous = (status: number) => ({ ...createEnded(0, status), actor: null });
    const lines: object[] = [];
    const omitted: { omitted?: number }[] = [];
    const log = {
      ...silent,
      info: (fields: object) => lines.push(fields),
      warn: (fields: { omitted?: number }) => omitted.push(fields),
    } as unknown as Log;
    const observe = createRequestLog({ log, successSample: 1, logViolations: () => {} });
    const startedAt = performance.now();
    let observed = 1000;
    for (let id = 0; id < observed; id += 1) observe(anonymous(id % 2 === 0 ? 401 : 404));
    const refilled = Math.ceil((performance.now() - startedAt) / 100);
    const logged = lines.length;
    expect(logged).to.be.within(100, 100 + refilled);
    await waitUntil('a line', () => {
      observe(anonymous(401));
      observed += 1;
      return lines.length > logged;
    });
    const counted = omitted.reduce((sum, { omitted: count = 0 }) => sum + count, 0);
    expect(lines.length + counted, 'logged or counted').to.equal(observed);
  });
});

describe('--log-success-sample', () => {
  const setup = useHost(
    (provider) => ({ 'shop.json': describeModule('shop', provider.url, ROUTES) }),
    { args: ['--log-success-sample', '0'] },
  );

  it('omits successes only', async () => {
    await call(setup.host, { target: '/modules/shop/http/items/1' });
    await call(setup.host, { target: '/modules/shop/http/none' });
    const lines = () => setup.host.logs().filter((line) => line['msg'] === 'request');
    await waitUntil('the failure', () => lines().length > 0);
    expect(lines().map((line) => line['status'])).to.deep.equal([404]);
  });
});
