import { expect } from 'chai';
import { createClientDocument } from '../../core/cli/client-types/client-document.js';
import { call, parseJson } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { callTool, listTools } from '../support/mcp/mcp-call.js';
import { expectValidDocument } from '../support/openapi/validate-document.js';

const FILTER = {
  name: 'filter',
  in: 'query',
  style: 'deepObject',
  description: 'What to list.',
  examples: { all: { value: {} } },
  schema: { $ref: 'manifest:schemas/Filter' },
};
const RANGE = {
  name: 'range',
  in: 'query',
  schema: {
    type: 'object',
    required: ['from'],
    properties: { from: { $ref: '#/$defs/day' }, to: { $ref: '#/$defs/day' } },
    $defs: { day: { type: 'string', format: 'date' } },
  },
};
const EXAMPLES = { newest: { summary: 'By age', value: [{ by: 'age' }] } };
const SORT = {
  name: 'sort',
  in: 'query',
  content: { 'application/json': { schema: true, examples: EXAMPLES } },
};
const IDS = { name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: {} } };
const header = (name: string) => ({ name, in: 'header', schema: { type: 'string' } });
const HEADERS = ['Prefer', 'X-Tenant', 'X-Other', 'If-None-Match'].map(header);
const PARAMETERS = [FILTER, RANGE, SORT, IDS, ...HEADERS];
const ROUTES = [
  {
    method: 'GET',
    path: '/items/{id}',
    capability: 'shop.use',
    operation: {
      operation_id: 'items',
      query_schema: { type: 'object', properties: { limit: { type: 'integer' } } },
      parameters: PARAMETERS,
    },
  },
];
const PATH = '/modules/shop/http/items/{id}';

interface Shown {
  readonly name: string;
  readonly in: string;
  readonly [member: string]: unknown;
}

interface Document {
  readonly paths: Record<string, { get: { parameters: Shown[] } }>;
  readonly components: { schemas: Record<string, object> };
}

describe('the unchecked parameters of a route', () => {
  const setup = useHost(
    ({ url }) => {
      const inline = Object(describeModule('shop', url, ROUTES)).manifest.inline;
      const schemas = { Filter: { type: 'object', properties: { name: { type: 'string' } } } };
      const manifest = { inline: { ...inline, schemas } };
      const more = { manifest, mcp: { expose: 'all' }, forward_headers: ['x-tenant'] };
      return {
        'shop.json': describeModule('shop', url, ROUTES, more),
        'raw.json': describeModule('raw', url, ROUTES, {
          manifest,
          responses: { mode: 'raw' },
        }),
      };
    },
    { args: ['--surfaces', 'mcp'] },
  );
  const read = async (query: string): Promise<Document> => {
    const response = await call(setup.host, { target: `/openapi.json${query}` });
    await expectValidDocument(response.body.toString());
    return parseJson(response) as unknown as Document;
  };
  const namesIn = ({ paths }: Document, path: string, place: string) =>
    (paths[path]?.get.parameters ?? []).filter((one) => one.in === place).map(({ name }) => name);

  it('are part of the API description in both views, with the shared schemas', async () => {
    for (const view of ['', '&view=client']) {
      const { paths, components } = await read(`?module=shop${view}`);
      const shown = paths[PATH]?.get.parameters ?? [];
      const [filter, , sort] = shown.filter(({ name }) =>
        ['filter', 'range', 'sort'].includes(name),
      );
      expect(filter).to.deep.equal({
        ...FILTER,
        schema: { $ref: '#/components/schemas/shop.Filter' },
      });
      expect(sort).to.deep.equal({
        ...SORT,
        content: { 'application/json': { schema: {}, examples: EXAMPLES } },
      });
      expect(components.schemas).to.include.keys('shop.Filter', 'shop.items.parameter.day');
    }
  });

  it('have the headers that the provider gets, and no other', async () => {
    const document = await read('');
    expect(namesIn(document, PATH, 'header')).to.deep.equal(['Prefer', 'X-Tenant']);
    const raw = namesIn(document, PATH.replace('shop', 'raw'), 'header');
    expect(raw).to.deep.equal(['Prefer', 'If-None-Match']);
  });

  it('have types in a client that fit what the client sends', async () => {
    const source = await read('?module=shop&view=client');
    const { document } = createClientDocument(source as never);
    const { parameters } = (document as unknown as Document).paths[PATH]?.get ?? {};
    const types = (parameters ?? []).map(({ name, schema }) => [name, Object(schema).type]);
    expect(Object.fromEntries(types)).to.deep.include({
      ...{ limit: 'integer', filter: undefined, sort: 'string', ids: 'string' },
      ...{ 'X-Tenant': 'string' },
    });
    expect(types.map(([name]) => name)).to.include.members(['from', 'to']);
    expect(types.map(([name]) => name)).not.to.include('range');
  });

  it('are arguments of tools, sent in their style', async () => {
    const [tool] = await listTools(setup.host, { module: 'shop' });
    const properties = Object(tool?.inputSchema['properties']);
    expect(Object.keys(properties)).to.deep.equal([
      ...['id', 'limit', 'filter', 'range', 'sort', 'ids'],
    ]);
    expect(properties.filter).to.deep.include({ description: 'What to list.', type: 'object' });
    const values = {
      ...{ id: 'a', filter: { name: 'x y', tags: [1, 2] }, range: { from: '2026-01-01' } },
      ...{ sort: [{ by: 'name' }], ids: ['a,b', 'c'] },
    };
    const result = await callTool(setup.host, 'shop_items', JSON.stringify(values));
    expect(result.isError).not.to.equal(true);
    expect(setup.provider.only().target).to.equal(
      '/items/a?filter%5Bname%5D=x%20y&filter%5Btags%5D=1&filter%5Btags%5D=2' +
        '&from=2026-01-01&sort=%5B%7B%22by%22%3A%22name%22%7D%5D&ids=a%2Cb,c',
    );
  });

  it('are not checked', async () => {
    const target = '/modules/shop/http/items/a?filter=1&range=x&sort=%7B&ids';
    expect((await call(setup.host, { target })).status).to.equal(200);
  });
});
