import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { expectValidDocument } from '../../support/openapi/validate-document.js';

const refer = (name: string) => ({ $ref: `manifest:schemas/${name}` });

const SCHEMAS = {
  Item: {
    type: 'object',
    required: ['name'],
    properties: { name: { $ref: '#/$defs/name' }, parts: { type: 'array', items: refer('Item') } },
    $defs: { name: { type: 'string', maxLength: 100 } },
  },
  Limit: { type: 'integer', maximum: 10 },
  Unused: { type: 'null' },
};

const ROUTES = [
  route('POST', '/items', { input_schema: refer('Item') }),
  route('PUT', '/items', { input_schema: { type: 'array', items: refer('Item') } }),
  route('GET', '/items', { query_schema: { properties: { limit: refer('Limit') } } }),
];

function route(method: string, path: string, operation: object) {
  return { method, path, capability: 'shop.use', operation };
}

describe('shared schemas of a module', () => {
  const setup = useHost(({ url }) => ({
    'shop.json': describeModule('shop', url, [], {
      manifest: { inline: { ...buildManifest('shop', ROUTES), schemas: SCHEMAS } },
    }),
  }));

  const send = (method: string, body: unknown, query = '') =>
    call(setup.host, {
      method,
      target: `/modules/shop/http/items${query}`,
      ...(body !== undefined && {
        headers: [JSON_TYPE],
        body: Buffer.from(JSON.stringify(body)),
      }),
    });

  const rejectedField = async (...request: Parameters<typeof send>) => {
    const problem = expectProblem(await send(...request), 400, 'validation_failed');
    expect(setup.provider.requests).to.deep.equal([]);
    return problem.errors.map(({ field, reason }) => `${field}: ${reason}`);
  };

  it('are enforced in each route that refers to them', async () => {
    expect(await rejectedField('POST', { parts: [] })).to.deep.equal(['/name: missing']);
    const nested = [{ name: 'a', parts: [{ name: 1 }] }];
    expect(await rejectedField('PUT', nested)).to.deep.equal(['/0/parts/0/name: expected string']);
    expect((await send('PUT', [{ name: 'a' }])).status).to.equal(200);
  });

  it('say how a parameter of the query is read', async () => {
    expect(await rejectedField('GET', undefined, '?limit=x')).to.deep.equal([
      'query.limit: expected integer',
    ]);
    expect((await send('GET', undefined, '?limit=10')).status).to.equal(200);
  });

  it('are enforced for bodies that a thread checks', async () => {
    const parts = Array.from({ length: 10_000 }, () => ({ name: 'a' }));
    expect(await rejectedField('POST', { name: 'a', parts: [...parts, {}] })).to.deep.equal([
      '/parts/10000/name: missing',
    ]);
    expect((await send('POST', { name: 'a', parts })).status).to.equal(200);
  });

  it('are one component each in the document, where a route refers to them', async () => {
    const response = await call(setup.host, { target: '/openapi.json' });
    // biome-ignore lint/suspicious/noExplicitAny: a document of unknown shape
    const document = parseJson(response) as any;
    await expectValidDocument(response.body.toString());
    const names = Object.keys(document.components.schemas).filter((name) => /^shop/.test(name));
    expect(names).to.have.members(['shop.Item', 'shop.Limit', 'shop.Item.name']);
    const item = { $ref: '#/components/schemas/shop.Item' };
    const { post, put, get } = document.paths['/modules/shop/http/items'];
    expect(post.requestBody.content['application/json'].schema).to.deep.equal(item);
    expect(put.requestBody.content['application/json'].schema.items).to.deep.equal(item);
    expect(get.parameters[0].schema.$ref).to.equal('#/components/schemas/shop.Limit');
  });
});
