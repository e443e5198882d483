import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  headerValue,
  headerValues,
  RawConnection,
  type RawHeader,
} from '../../core/selftest/raw-http.js';
import { type Call, call, parseJson, ROOT } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

const APP = 'https://app.example';
const TARGET = '/modules/crm/http/items';
const BRIDGE = '/modules/crm/http/console-bridge/crm.read';
const ROUTES = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'POST', path: '/items', capability: 'crm.read' },
];
const CORS = [
  'tokens: tokens.json',
  'token-header: X-Api-Key',
  'cors:',
  `  origins: [${APP}, http://localhost:8080]`,
  '  headers: [X-Tenant]',
  '  max_age_s: 60',
];
const EXPOSED = 'x-request-id, x-correlation-id, retry-after, www-authenticate, modgate-origin';
const HEADERS =
  'authorization, accept-language, idempotency-key, if-match, prefer, if-none-match, ' +
  'if-modified-since, if-unmodified-since, content-type, content-encoding, content-disposition, ' +
  'content-range, content-language, content-md5, content-digest, accept, range, if-range, ' +
  'last-event-id, x-correlation-id, x-request-id, traceparent, tracestate, x-api-key, x-tenant';

/** Looks like a configured origin, but is another. */
const OTHER_ORIGINS = [
  'null',
  'https://evil.example',
  'https://app.example.evil.example',
  'https://evil-app.example',
  'https://xapp.example',
  'https://app.example.',
  'https://app.example:444',
  'https://app.example:443',
  'http://app.example',
  'https://APP.example',
  'https://app.example/',
  'https://app.example, https://evil.example',
  'http://localhost',
  'http://localhost:80800',
  '*',
  '',
];

const preflight = (origin: string, method = 'POST'): RawHeader[] => [
  ['origin', origin],
  ['access-control-request-method', method],
  ['access-control-request-headers', 'authorization, content-type'],
];

describe('cors', () => {
  let folder = '';
  const config = () => join(folder, 'modgate.yaml');

  before(() => {
    folder = createFolder();
    writeFileSync(join(folder, 'tokens.json'), '{"tokens":[]}');
    writeFileSync(config(), `${CORS.join('\n')}\n`);
  });

  const args: string[] = [];
  before(() => args.push('--config', config()));
  const setup = useHost(
    (provider) => ({
      'crm.json': describeModule('crm', provider.url, ROUTES),
      'raw.json': describeModule('raw', provider.url, ROUTES, {
        responses: { mode: 'raw', expose_headers: ['ETag', 'vary', 'x-rate'] },
      }),
    }),
    { args },
  );
  const send = (partial: Partial<Call>) => call(setup.host, { target: TARGET, ...partial });

  it('answers a preflight with 204, without a token and without a lookup of the module', async () => {
    for (const target of [TARGET, '/modules/absent/http/x', '/modules/crm/http/a//b']) {
      const response = await send({
        method: 'OPTIONS',
        target,
        as: null,
        headers: preflight(APP),
      });
      expect(response.status).to.equal(204);
      expect(response.body).to.have.length(0);
      const { headers } = response;
      expect(headerValues(headers, 'content-length')).to.deep.equal([]);
      expect(headerValues(headers, 'content-type')).to.deep.equal([]);
      expect(headerValue(headers, 'access-control-allow-origin')).to.equal(APP);
      expect(headerValue(headers, 'access-control-allow-headers')).to.equal(HEADERS);
      expect(headerValue(headers, 'access-control-max-age')).to.equal('60');
      expect(headerValues(headers, 'access-control-allow-credentials')).to.deep.equal([]);
      expect(headerValues(headers, 'vary')).to.deep.equal(['origin']);
      expect(headerValue(headers, 'access-control-allow-methods')).to.equal(
        'GET, HEAD, POST, PUT, PATCH, DELETE',
      );
    }
    expect(setup.provider.requests).to.have.length(0);
    const { body } = await call(setup.host, { target: '/metrics' });
    expect(body.toString()).to.match(/^modgate_preflights_total 3$/m);
  });

  it('adds the origin and the exposed headers to responses and errors', async () => {
    const headers: RawHeader[] = [['origin', APP]];
    const cases: readonly (readonly [Partial<Call>, number])[] = [
      [{}, 200],
      [{ method: 'HEAD' }, 200],
      [{ as: null }, 401],
      [{ as: 'dev-user:a' }, 403],
      [{ target: '/modules/absent/http/x' }, 404],
      [{ method: 'POST' }, 400],
      [{ method: 'OPTIONS' }, 404],
      [{ headers: [...headers, ['expect', 'x']] }, 417],
    ];
    for (const [origin, status] of cases) {
      const response = await send({ headers, ...origin });
      expect(response.status).to.equal(status);
      expect(headerValue(response.headers, 'access-control-allow-origin')).to.equal(APP);
      expect(headerValue(response.headers, 'access-control-expose-headers')).to.equal(EXPOSED);
      expect(headerValues(response.headers, 'vary')).to.deep.equal(['origin']);
    }
  });

  it('adds them when the host rejects the rest of a body', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      const lines = [`POST ${TARGET} HTTP/1.1`, 'host: 127.0.0.1', `origin: ${APP}`];
      lines.push(`authorization: Bearer ${ROOT}`, 'content-type: application/json');
      lines.push('transfer-encoding: chunked', 'expect: 100-continue', '', '');
      connection.write(lines.join('\r\n'));
      expect((await connection.read()).status).to.equal(100);
      connection.write('zz\r\n');
      const { status, headers } = await connection.readFinal();
      expect(status).to.equal(400);
      expect(headerValue(headers, 'access-control-allow-origin')).to.equal(APP);
      expect(headerValue(headers, 'access-control-expose-headers')).to.equal(EXPOSED);
      expect(headerValues(headers, 'vary')).to.deep.equal(['origin']);
    } finally {
      connection.destroy();
    }
  });

  it('exposes what the module exposes, on its responses and not on Problems', async () => {
    setup.provider.answer({
      status: 201,
      headers: [
        ['content-type', 'application/json'],
        ['etag', '"1"'],
        ['vary', 'accept-language'],
        ['access-control-allow-origin', '*'],
      ],
    });
    const headers: RawHeader[] = [['origin', APP]];
    const target = '/modules/raw/http/items';
    const served = await send({ target, headers });
    expect(served.status).to.equal(201);
    const exposed = headerValues(served.headers, 'access-control-expose-headers').join();
    expect(exposed.startsWith(EXPOSED)).to.equal(true);
    expect(exposed.split(', ')).to.include.members(['etag', 'x-rate']);
    expect(headerValues(served.headers, 'access-control-allow-origin')).to.deep.equal([APP]);
    const [vary = '', ...others] = headerValues(served.headers, 'vary');
    expect(others).to.deep.equal([]);
    expect(vary.toLowerCase().split(/, */)).to.have.members([
      ...['accept-language', 'authorization', 'x-api-key', 'origin'],
    ]);
    const denied = await send({ target, headers, as: null });
    expect(headerValue(denied.headers, 'access-control-expose-headers')).to.equal(EXPOSED);
  });

  for (const origin of OTHER_ORIGINS) {
    it(`treats the origin '${origin}' as if there were no setting`, async () => {
      const preflightResponse = await send({
        method: 'OPTIONS',
        as: null,
        headers: preflight(origin),
      });
      expectProblem(preflightResponse, 401);
      const plain = await send({ headers: [['origin', origin]] });
      expect(plain.status).to.equal(200);
      for (const { headers } of [preflightResponse, plain]) {
        expect(headers.filter(([name]) => name.startsWith('access-control-'))).to.deep.equal([]);
        expect(headerValues(headers, 'vary')).to.deep.equal(['origin']);
      }
    });
  }

  it('rejects a preflight with two origins', async () => {
    const headers = [...preflight(APP), ['origin', 'https://evil.example'] as const];
    expectProblem(await send({ method: 'OPTIONS', as: null, headers }), 401);
  });

  it('answers OPTIONS other than preflights like any other request', async () => {
    const headers: RawHeader[] = [['origin', APP]];
    expectProblem(await send({ method: 'OPTIONS', as: null, headers }), 401);
  });

  it('records why a preflight is rejected, or answered without the requested permission', async () => {
    const asking = (method: string, names: string): RawHeader[] => [
      ['origin', APP],
      ['access-control-request-method', method],
      ['access-control-request-headers', names],
    ];
    const refused = preflight('https://evil.example');
    const gaps: readonly (readonly [RawHeader[], number, string | null, string])[] = [
      [refused, 401, 'origin', 'https://evil.example'],
      [asking('PROPFIND', ''), 204, 'method', APP],
      [asking('GET', 'x-tenant, X-Other'), 204, 'headers', APP],
      [asking('GET', 'x-tenant, Accept'), 204, null, APP],
    ];
    for (const [index, [headers, status, reason, origin]] of gaps.entries()) {
      const id = `gap-${index}`;
      const sent: RawHeader[] = [...headers, ['x-request-id', id]];
      const response = await send({ method: 'OPTIONS', as: null, headers: sent });
      expect(response.status, id).to.equal(status);
      const { calls } = parseJson(await send({ target: `/calls?request_id=${id}` })) as {
        readonly calls: readonly object[];
      };
      const expected = { status, step: 'origin', reason, origin, module_named: 'crm' };
      expect(calls, id).to.have.length(reason === null ? 0 : 1);
      if (reason !== null) expect(calls[0]).to.include(expected);
      const find = () => setup.host.logs().find((line) => line['request_id'] === id);
      await waitUntil('the line', () => find() !== undefined);
      expect(find()).to.include(reason === null ? { status } : expected);
    }
  });

  it('is named in the explanation of OPTIONS', async () => {
    const target = `/explain?method=OPTIONS&target=${encodeURIComponent(TARGET)}`;
    const { checks } = parseJson(await send({ target })) as {
      readonly checks: readonly { readonly check: string; readonly next_actions: string[] }[];
    };
    const route = checks.find(({ check }) => check === 'route');
    expect(route?.next_actions.join()).to.include('list its origin in cors');
  });

  it('does not apply to the bridge and to other routes of the host', async () => {
    const others: readonly Partial<Call>[] = [
      { method: 'OPTIONS', target: BRIDGE, headers: preflight(APP) },
      { method: 'POST', target: BRIDGE, headers: [['origin', APP]] },
      { method: 'OPTIONS', target: '/modules', headers: preflight(APP) },
      { target: '/modules', headers: [['origin', APP]] },
      { target: '/livez', headers: [['origin', APP]] },
    ];
    for (const request of others) {
      const { headers, status } = await send(request);
      expect(status).not.to.equal(204);
      const added = headers.filter(([name]) => /^(?:access-control-.*|vary)$/.test(name));
      expect(added, JSON.stringify(request)).to.deep.equal([]);
    }
  });

  it('covers the API description', async () => {
    const preflightResponse = await send({
      method: 'OPTIONS',
      target: '/openapi.json?module=crm',
      as: null,
      headers: preflight(APP, 'GET'),
    });
    expect(preflightResponse.status).to.equal(204);
    const exposed = headerValue(preflightResponse.headers, 'access-control-expose-headers');
    expect(exposed).to.equal(`${EXPOSED}, etag`);
  });
});
