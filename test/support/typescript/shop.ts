import type { EchoProvider } from '../echo-provider.js';

const ITEM = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'string', description: 'Chosen by the shop' },
    name: { type: 'string' },
    parent: { $ref: '#' },
  },
};

const PAGE = {
  type: 'object',
  required: ['records', 'next_cursor'],
  properties: {
    records: { type: 'array', items: { $ref: '#/$defs/Item' } },
    next_cursor: { type: ['string', 'null'] },
  },
  $defs: { Item: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } },
};

const ROUTES = [
  {
    method: 'GET',
    path: '/items/{id}',
    capability: 'shop.read',
    summary: 'Read an item',
    operation: { operation_id: 'getItem', output_schema: ITEM },
  },
  {
    method: 'GET',
    path: '/items',
    capability: 'shop.read',
    operation: {
      operation_id: 'listItems',
      query_schema: {
        type: 'object',
        properties: { limit: { type: 'integer' }, cursor: { type: 'string' } },
      },
      output_schema: PAGE,
    },
  },
  {
    method: 'POST',
    path: '/items',
    capability: 'shop.write',
    operation: {
      operation_id: 'addItem',
      idempotency: 'requires_key',
      input_schema: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' } },
      },
      output_schema: ITEM,
      examples: [{ name: 'tea', input: { name: 'tea' }, output: { id: '1', name: 'tea' } }],
    },
  },
  { method: 'GET', path: '/files/{path...}', capability: 'shop.read' },
];

/** A module with schemas, for clients of several kinds. */
export function describeShop(provider: EchoProvider): Readonly<Record<string, object>> {
  const manifest = {
    protocol: 'modgate.manifest.v1',
    module_id: 'acme/shop',
    capabilities: ['shop.read', 'shop.write'],
    http_routes: ROUTES,
  };
  return {
    'shop.json': {
      module: 'acme/shop',
      provider: { kind: 'http', config: { endpoints: [provider.url] } },
      manifest: { inline: manifest },
    },
  };
}
