import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { type Call, call, parseJson } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { expectValidDocument } from '../support/openapi/validate-document.js';

// biome-ignore lint/suspicious/noExplicitAny: a document of unknown shape
type Document = any;

const ITEM = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { name: { $ref: '#/$defs/name' }, parent: { $ref: '#' } },
  $defs: { name: { type: 'string', maxLength: 20 } },
};

const SHOP = [
  {
    method: 'PUT',
    path: '/items/{id}',
    capability: 'shop.write',
    summary: 'Replace an item',
    description: 'Replaces **all** of it.',
    tags: ['items', 'shop'],
    deprecated: true,
    operation: {
      operation_id: 'putItem',
      idempotency: 'requires_key',
      input_schema: ITEM,
      output_schema: ITEM,
      examples: [{ name: 'a cup', input: { name: 'cup' }, output: { name: 'cup' } }],
    },
  },
  { method: 'GET', path: '/items/{item_id}', capability: 'shop.read' },
  { method: 'GET', path: '/items/{rest...}', capability: 'shop.read' },
  { method: 'DELETE', path: '/items/{rest...}', capability: 'shop.write' },
  { method: 'GET', path: '/a b/ü:x/100%', capability: 'shop.read' },
  {
    method: 'GET',
    path: '/',
    capability: 'shop.read',
    operation: {
      query_schema: {
        type: 'object',
        required: ['q'],
        properties: { q: { $ref: '#/$defs/text' }, ids: { type: 'array', items: {} } },
        $defs: { text: { type: 'string', description: 'What to find' } },
      },
    },
  },
  { method: 'POST', path: '/open', operation: { body: 'optional' } },
];

describe('GET /openapi.json', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, SHOP),
      'crm.json': describeModule('acme/crm', url, toRoutes(['GET /x', 'POST /x'], 'crm.use'), {
        callers: ['service', 'user'],
      }),
      'clash.json': describeModule('acme.crm', url, toRoutes(['GET /x'], 'crm.use')),
      'raw.json': describeModule('raw', url, toRoutes(['GET /x'], 'raw.use'), {
        responses: { mode: 'raw' },
        rate: { per_second: 1000 },
      }),
      'passing.json': describeModule('passing', url, toRoutes(['GET /x'], 'raw.use'), {
        provider_errors: 'passthrough',
      }),
      'forms.json': describeModule(
        'forms',
        url,
        toRoutes(
          [
            'GET /users',
            'GET /users/',
            'GET /users/{id}.json',
            'GET /@{lat},{lon}/',
            'GET /f/{rest...}/',
            'GET /f/{id}/',
          ],
          'forms.use',
        ),
      ),
      'empty.json': describeModule('empty', url, []),
    }),
    {
      args: [
        '--token-header',
        'x-api-key',
        '--public-url',
        'https://api.example',
        '--allow-dev-auth-anywhere',
      ],
      tokens: { tokens: [] },
    },
  );

  const get = (query = '', overrides: Partial<Call> = {}) =>
    call(setup.host, { target: `/openapi.json${query}`, ...overrides });
  const read = async (query = '', as?: string): Promise<Document> => {
    const response = await get(query, as === undefined ? {} : { as });
    expect(response.status, response.body.toString()).to.equal(200);
    return parseJson(response);
  };

  it('passes two public validators', async () => {
    await expectValidDocument((await get()).body.toString());
  });

  it('describes the paths in order, encoded, one for each shape', async () => {
    const { paths, servers, 'x-modgate-hidden': hidden } = await read();
    expect(Object.keys(paths)).to.deep.equal([
      '/modules/acme.crm/http/x',
      '/modules/acme%2Fcrm/http/x',
      '/modules/forms/http/users',
      '/modules/forms/http/users/',
      '/modules/forms/http/users/{id}.json',
      '/modules/forms/http/@{lat},{lon}/',
      '/modules/forms/http/f/{id}/',
      '/modules/passing/http/x',
      '/modules/raw/http/x',
      '/modules/shop/http/items/{id}',
      '/modules/shop/http/a%20b/%C3%BC:x/100%25',
      '/modules/shop/http',
      '/modules/shop/http/open',
    ]);
    const item = paths['/modules/shop/http/items/{id}'];
    expect(Object.keys(item)).to.deep.equal(['put', 'get', 'delete']);
    expect(item.get.parameters).to.deep.equal([
      {
        name: 'id',
        in: 'path',
        required: true,
        schema: { type: 'string', minLength: 1 },
        'x-modgate-name': 'item_id',
      },
    ]);
    expect(item.delete.parameters[0]).to.include({
      'x-modgate-rest': true,
      'x-modgate-name': 'rest',
    });
    expect(hidden).to.deep.equal([
      { method: 'GET', path: '/modules/forms/http/f/{rest...}/' },
      { method: 'GET', path: '/modules/shop/http/items/{rest...}' },
    ]);
    expect(servers).to.deep.equal([{ url: 'https://api.example' }]);
  });

  it('names operations by their segments, a final slash included', async () => {
    const { paths } = await read('?module=forms');
    const ids = Object.values<Document>(paths).map(({ get: operation }) => operation.operationId);
    expect(ids).to.deep.equal([
      'forms.get_users',
      'forms.get_users_',
      'forms.get_users_by_id.json',
      'forms.get_@by_lat,by_lon_',
      'forms.get_f_by_id_',
    ]);
    const { parameters } = paths['/modules/forms/http/@{lat},{lon}/'].get;
    expect(parameters.map(({ name }: Document) => name)).to.deep.equal(['lat', 'lon']);
  });

  it('describes an operation as it was declared', async () => {
    const { paths, components } = await read();
    const put = paths['/modules/shop/http/items/{id}'].put;
    expect(put).to.deep.include({
      operationId: 'shop.putItem',
      summary: 'Replace an item',
      description: 'Replaces **all** of it.',
      tags: ['shop', 'items'],
      deprecated: true,
      security: [{ bearer: ['shop.write'] }, { 'x-api-key': ['shop.write'] }],
    });
    expect(put.requestBody.required).to.equal(true);
    const { schema, examples } = put.requestBody.content['application/json'];
    expect(examples).to.deep.equal({ 'a cup': { value: { name: 'cup' } } });
    expect(schema).to.deep.equal({
      type: 'object',
      properties: {
        name: { $ref: '#/components/schemas/shop.putItem.input.name' },
        parent: { $ref: '#/components/schemas/shop.putItem.input' },
      },
    });
    expect(components.schemas['shop.putItem.input']).to.deep.equal(schema);
    expect(components.schemas['shop.putItem.input.name'].maxLength).to.equal(20);
    const answer = put.responses[200].content['application/json'];
    expect(answer.schema.properties.data).to.have.nested.property('properties.parent.$ref');
    expect(answer.examples['a cup'].value).to.deep.include({
      provider_path: '/items/id',
      path_params: { id: 'id' },
      data: { name: 'cup' },
    });
  });

  it('describes the parameters of a query', async () => {
    const { paths } = await read();
    const { parameters, requestBody } = paths['/modules/shop/http'].get;
    expect(requestBody).to.equal(undefined);
    expect(parameters.map(({ name, required }: Document) => [name, required])).to.deep.equal([
      ['q', true],
      ['ids', undefined],
    ]);
    expect(paths['/modules/shop/http/open'].post.requestBody.required).to.equal(undefined);
  });

  it('names operations by method and path, and never two alike', async () => {
    const { paths } = await read();
    expect(paths['/modules/shop/http/items/{id}'].get.operationId).to.equal(
      'shop.get_items_by_item_id',
    );
    expect(paths['/modules/acme.crm/http/x'].get.operationId).to.equal('acme.crm.get_x');
    expect(paths['/modules/acme%2Fcrm/http/x'].get.operationId).to.equal('acme.crm.get_x_2');
    const alone = await read('?module=acme%2Fcrm');
    expect(alone.paths['/modules/acme%2Fcrm/http/x'].get.operationId).to.equal('acme.crm.get_x_2');
  });

  it('describes every status of a route, and the mode of its responses', async () => {
    const { paths, components } = await read();
    const statuses = (path: string) => Object.keys(paths[path].get.responses).join(' ');
    const common = '200 400 401 403 404 408 417 431';
    expect(statuses('/modules/shop/http')).to.equal(`${common} 500 501 502 503`);
    expect(statuses('/modules/raw/http/x')).to.equal(
      '200 304 400 401 403 404 408 417 429 431 500 501 502 503 2XX default',
    );
    expect(statuses('/modules/passing/http/x')).to.equal(
      '200 400 401 403 404 408 409 410 412 417 422 429 431 500 501 502 503',
    );
    const codes = (name: string) =>
      Object.keys(
        components.responses[name].content['application/json'].schema.discriminator.mapping,
      );
    expect(codes('NotFound')).to.deep.equal(['not_found']);
    expect(codes('NotFoundOrProviderError')).to.deep.equal(['not_found', 'provider_error']);
  });

  it('names each way to authenticate', async () => {
    const { components } = await read();
    expect(components.securitySchemes).to.deep.equal({
      bearer: { type: 'http', scheme: 'bearer' },
      'x-api-key': { type: 'apiKey', in: 'header', name: 'x-api-key' },
    });
  });

  it('has the digest of its modules as its version', async () => {
    const { modules } = parseJson(await call(setup.host, { target: '/modules' })) as Document;
    const pairs = modules.map(({ name, config_digest: digest }: Document) => [name, digest]);
    pairs.sort(([a]: [string], [b]: [string]) => (a < b ? -1 : 1));
    const digest = createHash('sha256').update(JSON.stringify(pairs)).digest('hex');
    expect((await read()).info.version).to.equal(`sha256:${digest}`);
    expect((await read('?module=shop')).info.version).not.to.equal(`sha256:${digest}`);
  });

  it('can be limited to modules', async () => {
    const { paths, tags } = await read('?module=shop&module=raw');
    expect(tags.map(({ name }: Document) => name)).to.deep.equal(['raw', 'shop', 'items']);
    expect(Object.keys(paths)).to.have.length(5);
    await expectValidDocument((await get('?module=shop')).body.toString());
    expectProblem(await get('?module=missing'), 404);
    for (const query of ['?module=UPPER', '?callable=1', '?callable=true&callable=true', '?x=1']) {
      expectProblem(await get(query), 400);
    }
  });

  it('can be limited to what the caller may call', async () => {
    const listPaths = async (as: string) => Object.keys((await read('?callable=true', as)).paths);
    expect(await listPaths('dev-service:a:crm.use')).to.deep.equal([
      '/modules/acme.crm/http/x',
      '/modules/acme%2Fcrm/http/x',
    ]);
    expect(await listPaths('dev-system:a')).not.to.include('/modules/acme%2Fcrm/http/x');
    expect(await listPaths('dev-system:a')).not.to.include('/modules/shop/http/open');
    expect(await listPaths('dev-user:a:crm.use')).to.deep.equal(['/modules/acme%2Fcrm/http/x']);
    expect(await listPaths('dev-user:a')).to.deep.equal([]);
  });

  it('needs an actor, of any kind and scope', async () => {
    expectProblem(await get('', { as: null }), 401);
    expect((await get('', { as: 'dev-user:without-scopes' })).status).to.equal(200);
    expectProblem(await get('', { method: 'POST' }), 405);
  });

  it('is sent again only when it has changed', async () => {
    const first = await get();
    const etag = headerValue(first.headers, 'etag') ?? '';
    expect(headerValue(first.headers, 'cache-control')).to.equal('private, no-cache');
    for (const header of [etag, `"x", W/${etag}`, '*']) {
      const response = await get('', { headers: [['if-none-match', header]] });
      expect([response.status, response.body.length]).to.deep.equal([304, 0]);
      expect(headerValue(response.headers, 'etag')).to.equal(etag);
      expect(headerValue(response.headers, 'cache-control')).to.equal('private, no-cache');
    }
    const part = headerValue((await get('?module=shop')).headers, 'etag') ?? '';
    expect(part).not.to.equal(etag);

    setup.host.drop(
      'new.json',
      describeModule('new', setup.provider.url, toRoutes(['GET /x'], 'n')),
    );
    await waitUntil('another document', async () => {
      return (await get('', { headers: [['if-none-match', etag]] })).status === 200;
    });
    expect(headerValue((await get('?module=shop')).headers, 'etag')).to.equal(part);
    setup.host.remove('new.json');
    await waitUntil('the first document', async () => {
      return (await get('', { headers: [['if-none-match', etag]] })).status === 304;
    });
  });

  it('has the same ETag exactly where the document is the same', async () => {
    const callers = ['dev-service:a:crm.use', 'dev-user:a:crm.use', 'dev-user:a', 'dev-system:a'];
    const renamed = '?module=acme%2Fcrm';
    const queries = ['', '?module=shop', '?module=shop&module=raw', renamed, '?callable=true'];
    const texts = new Map<string, string>();
    const etags = new Map<string, string>();
    const record = async (query: string, as: string) => {
      const response = await get(query, { as });
      const etag = headerValue(response.headers, 'etag') ?? '';
      const text = response.body.toString();
      expect(texts.get(etag) ?? text, `${query} as ${as}`).to.equal(text);
      expect(etags.get(text) ?? etag, `${query} as ${as}`).to.equal(etag);
      texts.set(etag, text);
      etags.set(text, etag);
    };
    for (const as of callers) for (const query of queries) await record(query, as);
    const clash = describeModule('acme.crm', setup.provider.url, toRoutes(['GET /x'], 'crm.use'));
    setup.host.remove('clash.json');
    await waitUntil('another name of the operation', async () => {
      return JSON.stringify(await read(renamed)).includes('"acme.crm.get_x"');
    });
    for (const as of callers) for (const query of queries) await record(query, as);
    expect(texts.size).to.be.greaterThan(8);
    setup.host.drop('clash.json', clash);
    await waitUntil('the module again', async () => {
      return JSON.stringify(await read(renamed)).includes('"acme.crm.get_x_2"');
    });
  });
});
