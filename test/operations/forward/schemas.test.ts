import { expect } from 'chai';
import type { ReceivedResponse } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { expectProblem, type Problem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const ITEM = {
  type: 'object',
  required: ['name', 'amount'],
  properties: {
    name: { type: 'string', maxLength: 20, pattern: '^\\p{L}' },
    amount: { type: 'integer', minimum: 1 },
    tags: { type: 'array', uniqueItems: true },
    child: { $ref: '#' },
  },
  additionalProperties: false,
};
const QUERY = {
  properties: {
    limit: { type: 'integer', maximum: 100 },
    deep: { type: 'boolean' },
    code: { type: 'string' },
    ids: { type: 'array', items: { type: 'integer' }, maxItems: 2 },
    mode: { $ref: '#/$defs/mode' },
  },
  required: ['code'],
  $defs: { mode: { type: 'number' } },
};
const OUTPUT = { type: 'object', properties: { qty: { type: 'integer' } }, required: ['qty'] };

const ROUTES = [
  route('POST', '/items', { input_schema: ITEM }),
  route('PUT', '/free', {}),
  route('GET', '/items', { query_schema: QUERY }),
  route('DELETE', '/items', { query_schema: { ...QUERY, additionalProperties: false } }),
  route('GET', '/stock', { output_schema: OUTPUT }),
  route('POST', '/stock', { input_schema: ITEM, output_schema: OUTPUT }),
];

function route(method: string, path: string, operation: object) {
  return { method, path, capability: 'shop.use', operation };
}

describe('schemas of a route', () => {
  const setup = useHost(({ url }) => ({
    'shop.json': describeModule('shop', url, ROUTES, { schemas: { output: 'enforce' } }),
    'seen.json': describeModule('seen', url, ROUTES, {
      schemas: { input: 'report', output: 'report' },
    }),
    'off.json': describeModule('off', url, ROUTES, { schemas: { input: 'off' } }),
  }));

  const post = (body: unknown, module = 'shop', path = '/items', method = 'POST') =>
    call(setup.host, {
      method,
      target: `/modules/${module}/http${path}`,
      headers: [JSON_TYPE],
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      isUndescribed: module !== 'shop',
    });
  const get = (path: string, module = 'shop', method = 'GET') =>
    call(setup.host, {
      method,
      target: `/modules/${module}/http${path}`,
      isUndescribed: module !== 'shop',
    });

  /** The errors of a 400, by field. The provider must not have been called. */
  const expectRejected = (response: ReceivedResponse): Record<string, string> => {
    const problem = expectProblem(response, 400);
    expect(problem.errors).to.have.length.within(1, 20);
    expect(setup.provider.requests).to.have.length(0);
    return byField(problem);
  };

  it('forward a valid body as it was sent', async () => {
    const body = '{ "amount": 1.0, "name":"caf\\u00e9", "child":{"name":"a","amount":2} }';
    const response = await post(body);
    expect(response.status, response.body.toString()).to.equal(200);
    expect(setup.provider.only().body.toString()).to.equal(body);
  });

  it('name each part of a body that violates them, and never its value', async () => {
    const secret = 'S3CRET-'.repeat(4);
    const response = await post({
      name: secret,
      amount: 'ten',
      'a/b~c': secret,
      tags: [{ a: 1, b: [2] }, 1, { b: [2], a: 1 }],
      child: { amount: 0 },
    });
    expect(expectRejected(response)).to.deep.equal({
      '/name': 'expected at most 20 characters',
      '/amount': 'expected integer',
      '/a~1b~0c': 'unexpected',
      '/tags/2': 'expected no repeated item',
      '/child/name': 'missing',
      '/child/amount': 'expected at least 1',
    });
    expect(response.body.toString()).not.to.contain('S3CRET');
  });

  it('list at most 20 violations', async () => {
    const names = Array.from({ length: 50 }, (_, index) => [`x${index}`, 1]);
    const rejected = await post({ name: 'a', amount: 1, ...Object.fromEntries(names) });
    expect(Object.keys(expectRejected(rejected))).to.have.length(20);
  });

  it('name the body as a whole by the empty pointer', async () => {
    expect(expectRejected(await post([]))).to.deep.equal({ '': 'expected object' });
  });

  it('reject a repeated member at any depth', async () => {
    const body = '{"name":"a","amount":1,"child":{"name":"b","amount":1,"n\\u0061me":"c"}}';
    expect(expectRejected(await post(body))).to.deep.equal({ '/child/name': 'repeated' });
    expect((await post('{"a":1,"a":1}', 'shop', '/free', 'PUT')).status).to.equal(200);
  });

  it('reject nesting beyond 1,000 levels, and check up to there', async () => {
    const nest = (levels: number, last: string) =>
      '{"name":"a","amount":1,"child":'.repeat(levels - 1) + last + '}'.repeat(levels - 1);
    const last = '{"name":"a","amount":1}';
    expect((await post(nest(1000, last))).status).to.equal(200);
    setup.provider.reset();
    const wrong = expectRejected(await post(nest(1000, '{"name":"a"}')));
    expect(wrong).to.deep.equal({ [`${'/child'.repeat(999)}/amount`.slice(0, 4096)]: 'missing' });
    const [[field, reason] = []] = Object.entries(expectRejected(await post(nest(1001, last))));
    expect(field).to.match(/^(?:\/child)+/);
    expect(reason).to.equal('nested beyond 1000 levels');
  });

  it('check a body after the body policy', async () => {
    expect(expectRejected(await post('{"name":'))).to.have.property('body');
  });

  describe('for a query', () => {
    const VALID = [
      'code=a',
      'code=1&limit=100&deep=true&ids=1&ids=2&mode=-1.5e1',
      'code=a+b%20c&other=%F0%9F%98%80',
    ];
    for (const query of VALID) {
      it(`accept ${query}`, async () => {
        expect((await get(`/items?${query}`)).status).to.equal(200);
        expect(setup.provider.only().target).to.equal(`/items?${query}`);
      });
    }

    it('accept names that they do not declare', async () => {
      expect((await get('/items?code=a&other=1&other=2')).status).to.equal(200);
    });

    const INVALID: Readonly<Record<string, Record<string, string>>> = {
      '': { 'query.code': 'missing' },
      'code=a&code=b': { 'query.code': 'repeated' },
      'code=a&limit=101': { 'query.limit': 'expected at most 100' },
      'code=a&limit=1.5': { 'query.limit': 'expected integer' },
      'code=a&limit=0x1': { 'query.limit': 'expected integer' },
      'code=a&limit=': { 'query.limit': 'expected integer' },
      'code=a&deep=TRUE': { 'query.deep': 'expected boolean' },
      'code=a&ids=1&ids=x': { 'query.ids': 'expected integer' },
      'code=a&ids=1&ids=2&ids=3': { 'query.ids': 'expected at most 2 items' },
      'code=a&mode=x': { 'query.mode': 'expected number' },
      'code=%FF': { 'query.code': 'expected UTF-8 with valid percent-encoding' },
      'code=a&%ZZ=1': { query: 'expected names in UTF-8 with valid percent-encoding' },
    };
    for (const [query, errors] of Object.entries(INVALID)) {
      it(`reject ?${query}`, async () => {
        expect(expectRejected(await get(`/items?${query}`))).to.deep.equal(errors);
      });
    }

    it('reject other names where additionalProperties is false', async () => {
      const rejected = expectRejected(await get('/items?code=a&other=1', 'shop', 'DELETE'));
      expect(rejected).to.deep.equal({ 'query.other': 'unexpected' });
    });

    it('hold for HEAD too', async () => {
      expect((await get('/items', 'shop', 'HEAD')).status).to.equal(400);
    });
  });

  describe('for a response', () => {
    it('are checked below data', async () => {
      setup.provider.answer({ body: '{"qty":"many"}' });
      const problem = expectProblem(await get('/stock'), 502);
      expect(byField(problem)).to.include({ failure: 'protocol', '/qty': 'expected integer' });
      expect(JSON.stringify(problem)).not.to.contain('many');
    });

    it('count no body as null', async () => {
      setup.provider.answer({ status: 204, body: null, headers: [] });
      const problem = expectProblem(await get('/stock'), 502);
      expect(byField(problem)).to.include({ '': 'expected object' });
    });

    it('accept a valid one', async () => {
      setup.provider.answer({ body: '{"qty": 12345678901234567890}' });
      const { status, body } = await get('/stock');
      expect([status, body.toString()]).to.include(200);
      expect(body.toString()).to.contain('12345678901234567890');
    });
  });

  it('are ignored where the descriptor says off', async () => {
    expect((await post({}, 'off')).status).to.equal(200);
    expect((await get('/items', 'off')).status).to.equal(200);
    setup.provider.answer({ body: '{}' });
    expect((await get('/stock', 'off')).status).to.equal(200);
  });

  it('forward a call where the descriptor says report, count it and log one line', async () => {
    setup.provider.answer({ body: '{"qty":null}' });
    for (let round = 0; round < 3; round += 1) {
      expect((await post({ 'my name': 1 }, 'seen')).status).to.equal(200);
      expect((await get('/stock', 'seen')).status).to.equal(200);
    }
    expect(setup.provider.requests).to.have.length(6);
    const { body } = await call(setup.host, { target: '/metrics' });
    const series = body.toString().split('\n');
    for (const [path, direction] of [
      ['/items', 'input'],
      ['/stock', 'output'],
    ]) {
      expect(series).to.include(
        `modgate_schema_violations_total{module="seen",route="${path}",direction="${direction}"} 3`,
      );
    }
    const lines = () =>
      setup.host.logs().filter(({ msg, module }) => msg === 'schema violated' && module === 'seen');
    await waitUntil('two log lines', () => lines().length >= 2);
    expect(lines().map(({ route, direction, field }) => [route, direction, field])).to.deep.equal([
      ['/items', 'input', '/name'],
      ['/stock', 'output', '/qty'],
    ]);
  });

  it('log one line a minute for a route where both directions are violated', async () => {
    setup.provider.answer({ body: '{"qty":null}' });
    for (let round = 0; round < 3; round += 1) await post({}, 'seen', '/stock');
    await get('/items', 'seen', 'DELETE');
    const lines = (logged: string) =>
      setup.host.logs().filter(({ msg, method, route }) => {
        return msg === 'schema violated' && `${method} ${route}` === logged;
      });
    await waitUntil('the line of the last call', () => lines('DELETE /items').length === 1);
    expect(lines('POST /stock')).to.have.length(1);
  });
});

function byField({ errors }: Problem): Record<string, string> {
  return Object.fromEntries(errors.map(({ field, reason }) => [field ?? '', reason]));
}
