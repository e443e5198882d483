import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';

const ID = { name: 'id', in: 'path', required: true, type: 'string' };
const PET = { $ref: '#/definitions/Pet' };
const OK = { description: 'ok', schema: PET };

const DOCUMENT = {
  swagger: '2.0',
  info: { title: 'Pets', version: '1' },
  host: 'pets.example',
  basePath: '/v1',
  schemes: ['http', 'https'],
  consumes: ['application/json'],
  produces: ['application/json'],
  security: [{ key: [] }],
  securityDefinitions: {
    key: { type: 'apiKey', in: 'header', name: 'X-Pets-Key' },
  },
  definitions: {
    Pet: {
      type: 'object',
      required: ['id'],
      properties: {
        id: { type: 'integer' },
        name: { type: 'string', 'x-nullable': true },
        discriminator: { type: 'string' },
        parent: PET,
      },
    },
  },
  parameters: {
    Limit: { name: 'limit', in: 'query', type: 'integer', maximum: 100 },
    NewPet: { name: 'pet', in: 'body', required: true, schema: PET },
  },
  responses: { Pets: { description: 'ok', schema: { type: 'array', items: PET } } },
  paths: {
    '/pets': {
      parameters: [{ $ref: '#/parameters/Limit' }],
      get: {
        operationId: 'listPets',
        parameters: [
          {
            name: 'tag',
            in: 'query',
            type: 'array',
            items: { type: 'string' },
            collectionFormat: 'multi',
          },
        ],
        responses: { 200: { $ref: '#/responses/Pets' } },
      },
      post: {
        operationId: 'addPet',
        parameters: [{ $ref: '#/parameters/NewPet' }],
        responses: { 201: OK },
      },
    },
    '/pets/{id}': {
      parameters: [ID, { name: 'pet', in: 'body', schema: { type: 'string' } }],
      put: {
        operationId: 'changePet',
        parameters: [{ name: 'changed', in: 'body', schema: PET }],
        responses: { 200: OK },
      },
      delete: { operationId: 'removePet', responses: { 204: { description: 'gone' } } },
    },
    '/pets/{id}/photo': {
      parameters: [ID],
      get: {
        operationId: 'readPhoto',
        produces: ['image/png'],
        responses: { 200: { description: 'ok', schema: { type: 'file' } } },
      },
      post: {
        operationId: 'addPhoto',
        consumes: ['multipart/form-data'],
        parameters: [
          { name: 'file', in: 'formData', type: 'file', required: true },
          { name: 'note', in: 'formData', type: 'string' },
        ],
        responses: { 200: { description: 'ok' } },
      },
    },
    '/shared-names': {
      get: {
        operationId: 'readName',
        responses: { 200: { description: 'ok', examples: { 'application/json': { a: 1 } } } },
      },
    },
  },
};

type Route = {
  readonly method: string;
  readonly path: string;
  readonly operation: Readonly<Record<string, unknown>> & { readonly operation_id: string };
};

describe('modgate import of Swagger 2.0', () => {
  let place: Workplace;
  let routes: ReadonlyMap<string, Route>;
  let manifest: { readonly http_routes: Route[]; readonly schemas: Record<string, unknown> };
  let output = '';

  before(async () => {
    place = createWorkplace();
    place.write('pets.json', DOCUMENT);
    const endpoint = 'http://127.0.0.1:4100/v1';
    const args = ['import', 'openapi', 'pets.json', '--module', 'pets', '--endpoint', endpoint];
    const { code, stdout, stderr } = await place.run(args);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    output = stdout;
    manifest = JSON.parse(readFileSync(join(place.folder, 'modules.d/pets/manifest.json'), 'utf8'));
    routes = new Map(manifest.http_routes.map((route) => [route.operation.operation_id, route]));
  });

  const find = (id: string) => routes.get(id)?.operation;

  it('makes a route of each operation, and passes check', async () => {
    expect(output).to.include('7 of 7 operations became routes');
    expect([...routes.values()].map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'GET /pets',
      'POST /pets',
      'PUT /pets/{id}',
      'DELETE /pets/{id}',
      'GET /pets/{id}/photo',
      'POST /pets/{id}/photo',
      'GET /shared-names',
    ]);
    const checked = await place.run(['check', '--json']);
    expect(checked.code, checked.stdout).to.equal(0);
  });

  it('reads parameters of the document, the path and the operation', () => {
    expect(find('listPets')?.['query_schema']).to.have.deep.property('properties', {
      limit: { type: 'integer', maximum: 100 },
      tag: { type: 'array', items: { type: 'string' } },
    });
  });

  it('reads schemas, and those that may be null', () => {
    expect(manifest.schemas['Pet']).to.deep.equal({
      type: 'object',
      required: ['id'],
      properties: {
        id: { type: 'integer' },
        name: { type: ['string', 'null'] },
        discriminator: { type: 'string' },
        parent: { $ref: 'manifest:schemas/Pet' },
      },
    });
    expect(find('listPets')?.['output_schema']).to.deep.equal({
      type: 'array',
      items: { $ref: 'manifest:schemas/Pet' },
    });
  });

  it('reads bodies, of which an operation has one', () => {
    const pet = { $ref: 'manifest:schemas/Pet' };
    expect(find('addPet')?.['input_schema']).to.deep.equal(pet);
    expect(find('changePet')?.['input_schema']).to.deep.equal(pet);
    // A POST without the member requires one.
    expect(find('addPet')).not.to.have.property('body');
    expect(find('changePet')?.['body']).to.equal('optional');
  });

  it('reads files and forms as bytes of their types', () => {
    expect(find('readPhoto')).to.deep.include({ response: 'bytes', response_types: ['image/png'] });
    expect(find('addPhoto')).to.deep.include({
      body: 'bytes',
      body_types: ['multipart/form-data'],
    });
  });

  /** The operations of another document. */
  async function importParts(name: string, parts: object) {
    place.write(`${name}.json`, { swagger: '2.0', info: {}, ...parts });
    const endpoint = ['--endpoint', 'http://127.0.0.1:4100'];
    const args = ['import', 'openapi', `${name}.json`, '--module', name, ...endpoint];
    const { code, stdout, stderr } = await place.run(args);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const text = readFileSync(join(place.folder, `modules.d/${name}/manifest.json`), 'utf8');
    const { http_routes: list } = JSON.parse(text) as { http_routes: Route[] };
    return { operations: list.map(({ operation }) => operation), text, stdout };
  }

  const answer = (response: object, others: object = {}) => ({
    get: { responses: { 200: { description: 'ok', ...response } }, ...others },
  });

  it('reads what has no media type as JSON, a text or a file of any type', async () => {
    const paths = {
      '/text': answer({ schema: { type: 'string' } }),
      '/file': answer({ schema: { type: 'file' } }),
    };
    expect((await importParts('odd', { paths })).operations).to.deep.equal([
      { output_schema: { type: 'string' }, response_types: ['text/*'] },
      { response: 'bytes' },
    ]);
  });

  it('reads forms whose type has parameters', async () => {
    const parameters = [{ name: 'note', in: 'formData', type: 'string' }];
    const multipart = 'Multipart/Form-Data; boundary=a';
    const form = 'application/x-www-form-urlencoded; charset=utf-8';
    const paths = { '/a': { post: { consumes: [multipart, form], parameters, responses: {} } } };
    const { operations } = await importParts('forms', { paths });
    expect(operations[0]).to.deep.include({
      body: 'bytes',
      body_types: ['multipart/form-data', 'application/x-www-form-urlencoded'],
    });
  });

  it('follows references into a default response', async () => {
    const definitions = { Pet: { type: 'object', properties: { id: { type: 'integer' } } } };
    const $ref = '#/paths/~1a/get/responses/default/schema';
    const paths = {
      '/a': { get: { responses: { default: { description: 'ok', schema: PET } } } },
      '/b': answer({ schema: { type: 'array', items: { $ref } } }),
    };
    const { operations, text, stdout } = await importParts('defaults', { definitions, paths });
    expect(stdout).to.not.include('leads nowhere');
    const pet = { $ref: 'manifest:schemas/Pet' };
    const schemas = { Pet: definitions.Pet, schema: pet };
    expect(JSON.parse(text)).to.have.deep.property('schemas', schemas);
    expect(operations.map((one) => one['output_schema'])).to.deep.equal([
      ...[pet, { type: 'array', items: { $ref: 'manifest:schemas/schema' } }],
    ]);
  });

  it('reads examples of responses without a schema', () => {
    expect(find('readName')?.['examples']).to.deep.equal([{ name: 'example', output: { a: 1 } }]);
  });

  it('gives a shared response the types of the operation that refers to it', async () => {
    const refer = (name: string) => ({ $ref: `#/responses/${name}` });
    const { operations } = await importParts('shared', {
      produces: ['application/json'],
      responses: {
        text: { description: 'ok', schema: { type: 'string' } },
        alias: refer('text'),
        file: { description: 'ok', schema: { type: 'file' } },
      },
      paths: {
        '/csv': { get: { produces: ['text/csv'], responses: { 200: refer('text') } } },
        '/plain': { get: { produces: ['text/plain'], responses: { 200: refer('alias') } } },
        '/json': { get: { responses: { 200: refer('text') } } },
        '/pdf': { get: { responses: { 200: refer('file') } } },
      },
    });
    expect(operations).to.deep.equal([
      { response: 'bytes', response_types: ['text/csv'] },
      { response: 'bytes', response_types: ['text/plain'] },
      { output_schema: { type: 'string' } },
      // A file is of any type: that of JSON is inherited.
      { response: 'bytes' },
    ]);
  });

  it('follows references to any part, as programs that join documents write them', async () => {
    const at = (path: string) => ({ $ref: `#/paths/~1items~1{id}/${path}` });
    const { operations, text, stdout } = await importParts('joined', {
      paths: {
        '/items/{id}': {
          parameters: [{ ...ID, 'x-multi-segment': true }],
          post: {
            parameters: [
              { name: 'pet', in: 'body', schema: { type: 'object' } },
              { name: 'size', in: 'query', type: 'integer' },
              { name: 'word', in: 'query', type: 'string' },
            ],
            responses: { 200: { description: 'ok', schema: { type: 'array', items: {} } } },
          },
        },
        '/parts/{id}': {
          parameters: [at('parameters/0')],
          get: {
            parameters: [{ ...at('post/parameters/1'), description: 'Of them' }],
            responses: { 200: { description: 'ok', schema: at('post/responses/200/schema') } },
          },
        },
        '/operations/{id}': {
          parameters: [{ name: 'more', in: 'query', type: 'boolean' }],
          get: { $ref: '#/paths/~1parts~1{id}/get' },
        },
      },
    });
    const [, ofParts, ofOperation] = operations;
    const size = { type: 'integer', description: 'Of them' };
    expect(ofParts?.['query_schema']).to.have.deep.property('properties', { size });
    expect(ofParts?.['encoded']).to.deep.equal(['id']);
    expect(ofParts?.['output_schema']).to.deep.equal({ $ref: 'manifest:schemas/schema' });
    expect(JSON.parse(text).schemas.schema).to.deep.equal({ type: 'array', items: {} });
    const both = { more: { type: 'boolean' }, size };
    expect(ofOperation?.['query_schema']).to.have.deep.property('properties', both);
    expect(stdout).to.not.include('not mapped');
  });

  it('lists each part that cannot be read', async () => {
    const lost = { $ref: '#/parameters/lost' };
    const paths = {
      '/a': { get: { parameters: [lost, { $ref: '#/parameters/other' }], responses: {} } },
      '/b': { get: { responses: { 200: { $ref: '#/responses/lost' } } } },
      '/c': { get: { $ref: '#/paths/lost' } },
      '/d': { $ref: '#/paths/~1d' },
    };
    const { operations, stdout } = await importParts('lost', { paths });
    expect(operations).to.have.length(3);
    expect(stdout).to.include('a parameter: it is a reference that leads nowhere');
    expect(stdout).to.include('2 × response: it is a reference that leads nowhere');
    expect(stdout).to.include('the path: it is a reference that leads back to itself');
  });

  it('reads examples of JSON whatever the types of the response are', async () => {
    const examples = { 'application/json': { a: 1 } };
    const described = { schema: { type: 'object' }, examples };
    const { operations } = await importParts('examples', {
      paths: {
        '/any': answer(described),
        '/json': answer(described, { produces: ['application/json; charset=utf-8'] }),
      },
    });
    for (const operation of operations) {
      expect(operation['examples']).to.deep.equal([{ name: 'example', output: { a: 1 } }]);
    }
  });

  it('suggests the credential that the document describes', () => {
    const descriptor = readFileSync(join(place.folder, 'modules.d/pets.yaml'), 'utf8');
    expect(descriptor.toLowerCase()).to.include('x-pets-key');
  });
});
