/** An OpenAPI document like that of a host, with what makes names and types difficult. */
export const SAMPLE_DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'modgate', version: `sha256:${'0'.repeat(64)}` },
  paths: {
    '/modules/shop/http/items/{id}': {
      parameters: [path('id')],
      get: operation('shop', 'shop.getItem', {
        summary: 'Read an item */ of the shop',
        data: { $ref: '#/components/schemas/shop.Item' },
        deprecated: true,
      }),
      put: operation('shop', 'shop.put-item', {
        parameters: [query('body', { type: 'string' }), query('id', { type: 'integer' })],
        requestBody: json({ $ref: '#/components/schemas/shop.Item' }, true),
        data: true,
      }),
    },
    '/modules/shop/http/items': {
      get: operation('shop', 'shop.listItems', {
        parameters: [
          query('limit', { type: 'integer', description: 'At most this many' }),
          query('cursor', { type: 'string' }),
          query('tag', { type: 'array', items: { type: 'string' } }),
        ],
        data: {
          type: 'object',
          required: ['records', 'next_cursor'],
          properties: {
            records: { type: 'array', items: { $ref: '#/components/schemas/shop.Item' } },
            next_cursor: { type: ['string', 'null'] },
          },
        },
      }),
      post: operation('shop', 'shop.list_items', {
        parameters: [
          { in: 'header', name: 'idempotency-key', required: true, schema: { type: 'string' } },
        ],
        requestBody: json({ type: 'object' }, false),
        data: { type: 'null' },
      }),
    },
    '/modules/acme%2Fcrm/http/files/{rest}': {
      parameters: [{ ...path('rest'), 'x-modgate-rest': true, 'x-modgate-name': 'file path' }],
      get: operation('acme/crm', 'acme.crm.__proto__', { raw: { type: 'array', items: {} } }),
      delete: operation('acme/crm', 'acme.crm.delete', { data: true }),
    },
  },
  components: {
    schemas: {
      Problem: { type: 'object' },
      'shop.Item': {
        type: 'object',
        description: 'An item\nfor sale',
        required: ['id', 'kind'],
        properties: {
          id: { type: 'string' },
          kind: { enum: ['a', 'b', null] },
          'odd name': { type: 'number', default: 1 },
          parent: { $ref: '#/components/schemas/shop.Item' },
          pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
          any: { anyOf: [{ type: 'string' }, { type: 'array', items: { const: 'x' } }] },
          all: { allOf: [{ properties: { a: { type: 'string' } } }, { required: ['a', 'b'] }] },
          map: { type: 'object', additionalProperties: { type: 'integer' } },
          mixed: { properties: { a: {} }, additionalProperties: { type: 'integer' } },
          nothing: { type: 'object', additionalProperties: false },
        },
      },
    },
  },
};

function path(name: string) {
  return { in: 'path', name, required: true, schema: { type: 'string' } };
}

function query(name: string, schema: object) {
  return { in: 'query', name, schema };
}

function json(schema: unknown, required: boolean) {
  return { required, content: { 'application/json': { schema } } };
}

interface Sample {
  readonly data?: unknown;
  readonly raw?: unknown;
  readonly [member: string]: unknown;
}

function operation(module: string, operationId: string, { data, raw, ...more }: Sample) {
  const envelope = {
    type: 'object',
    required: ['status', 'data'],
    properties: { status: { const: 'forwarded' }, declared_path: {}, provider_path: {}, data },
  };
  const problem = { description: '', ...json({ $ref: '#/components/schemas/Problem' }, false) };
  return {
    operationId,
    tags: [module],
    security: [{ bearer: [`${module}.read`] }],
    responses: {
      200: { description: '', content: { 'application/json': { schema: raw ?? envelope } } },
      401: problem,
      404: problem,
      502: problem,
    },
    ...more,
  };
}
