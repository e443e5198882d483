import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

interface Page {
  readonly calls: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
}

const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
];
const FIELDS = [
  'at',
  'request_id',
  'correlation_id',
  'trace_id',
  'module',
  'method',
  'route',
  'status',
  'failure',
  'failure_detail',
  'actor',
  'client',
  'duration_ms',
  'provider_ms',
  'attempts',
  'endpoint',
];

describe('GET /calls', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
    'spy.json': describeModule('spy', provider.url, ROUTES, { records: { capture_bytes: 200 } }),
  }));
  const list = async (query = '') =>
    parseJson(await call(setup.host, { target: `/calls${query}` })) as unknown as Page;
  const request = (id: string, target = '/modules/shop/http/items/1', overrides: object = {}) =>
    call(setup.host, { target, headers: [['x-request-id', id]], ...overrides });
  const timeOf = async (id: string) => {
    const [found] = (await list(`?request_id=${id}&limit=1`)).calls;
    return String(found?.['at']);
  };
  const idsOf = ({ calls }: Page) => calls.map((record) => record['request_id']);

  it('shows a call with exactly its fields', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await request('shown', undefined, {
      headers: [
        ['x-request-id', 'shown'],
        ['x-correlation-id', 'together'],
        ['traceparent', traceparent],
      ],
      as: 'dev-service:crm:shop.read',
    });
    const { calls, next_cursor } = await list();
    const [listed = {}] = calls;
    expect(Object.keys(listed)).to.deep.equal(FIELDS);
    expect(next_cursor).to.equal(null);
    expect(listed).to.include({
      request_id: 'shown',
      correlation_id: 'together',
      trace_id: 'a'.repeat(32),
      module: 'shop',
      method: 'GET',
      route: '/items/{id}',
      status: 200,
      failure: null,
      actor: 'service:crm',
      attempts: 1,
      endpoint: setup.provider.url,
    });
    expect(Date.parse(String(listed['at']))).to.be.within(Date.now() - 10_000, Date.now());
    expect(listed['duration_ms']).to.be.a('number').above(0);
    expect(listed['provider_ms']).to.be.a('number').above(0);
    expect(listed['provider_ms']).to.be.below(Number(listed['duration_ms']));
  });

  it('shows failed calls, also unauthenticated ones and of unknown modules', async () => {
    await request('anonymous', undefined, { as: null });
    await request('nowhere', '/modules/nope/http/x?secret=1');
    setup.provider.answer({ status: 503 });
    await request('failed');
    const [failed, nowhere, anonymous] = (await list('?limit=3')).calls;
    expect(failed).to.include({
      status: 502,
      failure: 'status',
      failure_detail: 'status 503',
      attempts: 1,
      route: '/items/{id}',
    });
    const none = { module: null, route: null, attempts: 0, endpoint: null, provider_ms: null };
    expect(nowhere).to.include({ ...none, status: 404, actor: 'system:root', failure: null });
    expect(anonymous).to.include({ ...none, status: 401, actor: null });
    expect(JSON.stringify((await list()).calls)).to.not.include('secret');
  });

  it('records a closed connection as 499', async () => {
    setup.provider.answer({ raw: [], finally: 'hang' });
    const connection = await RawConnection.open(setup.host.port);
    connection.write(
      `GET /modules/shop/http/items/9 HTTP/1.1\r\nhost: 127.0.0.1:${setup.host.port}\r\n` +
        'x-request-id: gone\r\nauthorization: Bearer dev-system:root\r\n\r\n',
    );
    await waitUntil('the call at the provider', () => setup.provider.requests.length === 1);
    connection.destroy();
    await waitUntil('the record', async () => (await list('?status=499')).calls.length === 1);
    const [gone] = (await list('?status=499')).calls;
    expect(gone).to.include({ request_id: 'gone', status: 499, failure: 'cancelled', attempts: 1 });
    expect(gone?.['provider_ms']).to.be.a('number');
  });

  it('omits other requests', async () => {
    await request('own', '/livez');
    await request('own', '/modules');
    expect(idsOf(await list())).to.not.include('own');
  });

  it('filters by module, status and time', async () => {
    const since = new Date().toISOString();
    await request('f1');
    await request('f2', '/modules/shop/http/none');
    await request('f3', '/modules/spy/http/items/1');
    const query = `since=${encodeURIComponent(since)}`;
    expect(idsOf(await list(`?${query}`))).to.deep.equal(['f3', 'f2', 'f1']);
    expect(idsOf(await list(`?${query}&module=shop`))).to.deep.equal(['f2', 'f1']);
    expect(idsOf(await list(`?${query}&module=shop&status=404`))).to.deep.equal(['f2']);
    expect(idsOf(await list('?module=acme%2Fnone'))).to.deep.equal([]);
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(idsOf(await list(`?since=${encodeURIComponent(later)}`))).to.deep.equal([]);
  });

  it('filters by a route with or without its method, a class of statuses and an end', async () => {
    const since = new Date().toISOString();
    const query = `since=${encodeURIComponent(since)}`;
    await request('f1');
    await request('f2', '/modules/shop/http/none');
    const until = new Date(Date.parse(await timeOf('f2')) + 1).toISOString();
    while (Date.now() <= Date.parse(until)) await new Promise(setImmediate);
    setup.provider.answer({ status: 503 });
    await request('f3');
    const find = async (more: string) => idsOf(await list(`?${query}&${more}`));
    expect(await find('route=/items/{id}')).to.deep.equal(['f3', 'f1']);
    expect(await find('route=GET%20/items/{id}')).to.deep.equal(['f3', 'f1']);
    expect(await find('route=POST%20/items/{id}')).to.deep.equal([]);
    expect(await find('status=4xx')).to.deep.equal(['f2']);
    expect(await find('status=5xx')).to.deep.equal(['f3']);
    expect(await find(`until=${encodeURIComponent(until)}`)).to.deep.equal(['f2', 'f1']);
    const atF2 = encodeURIComponent(await timeOf('f2'));
    expect(await find(`until=${atF2}&status=4xx`)).to.deep.equal([]);
  });

  it('counts calls by actor, module, route and status', async () => {
    const query = `since=${encodeURIComponent(new Date().toISOString())}`;
    await request('c1', undefined, { as: 'dev-service:crm:shop.read' });
    await request('c2', undefined, { as: 'dev-service:crm:shop.read' });
    setup.provider.answer({ status: 503 });
    await request('c3');
    const count = async (by: string, more = '') => {
      const response = await call(setup.host, { target: `/calls?${query}&by=${by}${more}` });
      return parseJson(response) as { groups: Record<string, unknown>[]; truncated: boolean };
    };
    const { groups, truncated } = await count('actor,status');
    expect(truncated).to.equal(false);
    const shown = groups.map(({ duration_ms: _duration, ...group }) => group);
    const bytes = { bytes_in: 0, bytes_out: 0 };
    expect(shown).to.deep.equal([
      { actor: 'service:crm', status: 200, calls: 2, failed: 0, ...bytes },
      { actor: 'system:root', status: 502, calls: 1, failed: 1, ...bytes },
    ]);
    const duration = groups[0]?.['duration_ms'] as { p50: number; p95: number };
    expect(duration.p50).to.be.above(0).and.at.most(duration.p95);
    const [first] = (await count('route')).groups;
    expect(first).to.include({ route: 'GET /items/{id}', calls: 3, failed: 1 });
    expect((await count('module', '&status=5xx')).groups[0]).to.include({
      module: 'shop',
      calls: 1,
    });
    expect(await count('actor', '&limit=1')).to.have.property('truncated', true);
  });

  it('pages without gaps or repetitions while new calls arrive', async () => {
    for (let number = 0; number < 7; number += 1) await request(`page-${number}`);
    const ids: unknown[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 4; page += 1) {
      const overrides = cursor === null ? '' : `&cursor=${cursor}`;
      const answered = await list(`?limit=2&module=shop${overrides}`);
      ids.push(...idsOf(answered));
      cursor = answered.next_cursor;
      await request('new');
    }
    const expected = [6, 5, 4, 3, 2, 1, 0].map((number) => `page-${number}`);
    expect(ids.slice(0, 7)).to.deep.equal(expected);
    expect(ids).to.not.include('new');
  });

  it('has no cursor on the last page', async () => {
    const all = await list('?limit=1000');
    const exact = await list(`?limit=${all.calls.length}`);
    expect(exact.next_cursor).to.equal(null);
    expect((await list('?limit=1')).next_cursor).to.be.a('string');
  });

  const BAD: readonly (readonly [string, string])[] = [
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=99', 'status'],
    ['status=600', 'status'],
    ['status=6xx', 'status'],
    ['status=4x', 'status'],
    ['route=items', 'route'],
    ['route=get%20/items', 'route'],
    ['until=yesterday', 'until'],
    ['by=client', 'by'],
    ['by=actor,actor', 'by'],
    ['by=', 'by'],
    ['by=actor&cursor=a', 'cursor'],
    ['since=yesterday', 'since'],
    ['since=2026-01-31', 'since'],
    ['since=2026-13-31T00:00:00Z', 'since'],
    ['module=A%20B', 'module'],
    ['module=', 'module'],
    ['cursor=nonsense', 'cursor'],
    ['cursor=', 'cursor'],
    ['cursor=00000000-1', 'cursor'],
    ['modul=shop', 'modul'],
  ];
  for (const [query, field] of BAD) {
    it(`rejects ?${query}, naming ${field}`, async () => {
      const response = await call(setup.host, { target: `/calls?${query}` });
      expect(expectProblem(response, 400).errors.map((error) => error.field)).to.deep.equal([
        field,
      ]);
    });
  }

  it('requires the scope modgate.calls.read', async () => {
    expectProblem(await call(setup.host, { target: '/calls', as: null }), 401);
    const as = 'dev-service:a:modgate.metrics.read';
    expectProblem(await call(setup.host, { target: '/calls', as }), 403);
    const allowed = 'dev-service:a:modgate.calls.read';
    expect((await call(setup.host, { target: '/calls', as: allowed })).status).to.equal(200);
  });

  it('keeps no bodies unless the descriptor enables it', async () => {
    const overrides = { method: 'POST', body: Buffer.from('{"a":1}') };
    await request('plain', '/modules/shop/http/items', { ...overrides, headers: [JSON_TYPE] });
    expect(Object.keys((await list('?limit=1')).calls[0] ?? {})).to.deep.equal(FIELDS);
  });

  it('captures bodies without secrets, truncated to the configured size', async () => {
    const body = {
      name: 'n',
      Password: 'hunter2',
      deep: [{ api_key: 7, 'x-auth': { a: 'hunter2' } }],
    };
    setup.provider.answer({
      body: JSON.stringify({ access_token: 'hunter2', text: 'ä'.repeat(200) }),
    });
    await call(setup.host, {
      method: 'POST',
      target: '/modules/spy/http/items',
      headers: [JSON_TYPE],
      body: Buffer.from(JSON.stringify(body)),
    });
    const text = JSON.stringify((await list('?limit=1')).calls[0]);
    const [listed = {}] = (await list('?limit=1')).calls;
    expect(text).to.not.include('hunter2');
    expect(JSON.parse(String(listed['request_body']))).to.deep.equal({
      name: 'n',
      Password: '[redacted]',
      deep: [{ api_key: '[redacted]', 'x-auth': '[redacted]' }],
    });
    const captured = String(listed['response_body']);
    expect(captured).to.match(/^\{"access_token":"\[redacted\]","text":"ä+…$/);
    expect(Buffer.byteLength(captured)).to.be.within(195, 203);
  });

  it('captures the response of a failed provider, and no body if it has none', async () => {
    setup.provider.answer({ status: 500, body: '{"detail":"broken"}' });
    await request('why', '/modules/spy/http/items/1');
    const [listed] = (await list('?limit=1')).calls;
    expect(listed).to.include({ request_body: null, response_body: '{"detail":"broken"}' });
  });
});
