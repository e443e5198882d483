import { expect } from 'chai';
import { parseOpenApi } from '../../../core/cli/import/parse-openapi.js';
import { readManifest } from '../../../core/manifest/parse-manifest.js';
import { SchemaRegistry } from '../../../core/schema/compile-schema.js';
import {
  convert,
  convertOne,
  jsonBody,
  jsonResponse,
  OK,
} from '../../support/cli/convert-operation.js';

describe('an imported OpenAPI document', () => {
  it('becomes a manifest with routes and a capability by tag and kind of access', () => {
    const { manifest } = convert({
      paths: {
        '/items/{id}': {
          get: { tags: ['Item store'], operationId: 'getItem', summary: 'Read', responses: OK },
          delete: { tags: ['Item store'], responses: OK },
        },
        '/untagged/{id}': { get: { responses: OK } },
      },
    });
    expect(manifest).to.deep.include({
      protocol: 'modgate.manifest.v1',
      module_id: 'shop',
      version: '1.2.3',
      summary: 'Shop',
      capabilities: ['shop.item-store.read', 'shop.item-store.write', 'shop.untagged.read'],
    });
    const routes = manifest.http_routes.map(({ method, path, capability }) => {
      return `${method} ${path} ${capability}`;
    });
    expect(routes).to.deep.equal([
      'GET /items/{id} shop.item-store.read',
      'DELETE /items/{id} shop.item-store.write',
      'GET /untagged/{id} shop.untagged.read',
    ]);
    expect(manifest.http_routes[0]).to.deep.include({ summary: 'Read' });
    expect(manifest.http_routes[0]?.operation).to.deep.include({ operation_id: 'getItem' });
  });

  it('gets capabilities that differ for tags that differ', () => {
    const { manifest } = convert({
      paths: {
        '/a': { get: { tags: ['Pets'], responses: OK } },
        '/b': { get: { tags: ['pets'], responses: OK } },
        '/c': { get: { tags: ['宠物'], responses: OK } },
      },
    });
    expect(manifest.capabilities).to.deep.equal([
      'shop.other.read',
      'shop.pets.read',
      'shop.pets_2.read',
    ]);
  });

  it('shares what its schemas refer to', () => {
    const { manifest } = convert({
      paths: {
        '/items': { post: { ...jsonBody({ $ref: '#/components/schemas/It~1em' }), responses: OK } },
      },
      components: {
        schemas: {
          'It/em': {
            type: 'object',
            properties: {
              parent: { $ref: '#/components/schemas/It~1em' },
              kind: { $ref: '#/components/schemas/Kind' },
            },
          },
          Kind: { type: 'string', enum: ['a', 'b'] },
        },
      },
    });
    expect(manifest.http_routes[0]?.operation?.input_schema).to.deep.equal({
      $ref: 'manifest:schemas/It_em',
    });
    expect(manifest.schemas).to.deep.equal({
      It_em: {
        type: 'object',
        properties: {
          parent: { $ref: 'manifest:schemas/It_em' },
          kind: { $ref: 'manifest:schemas/Kind' },
        },
      },
      Kind: { type: 'string', enum: ['a', 'b'] },
    });
  });

  it('has the keywords of OpenAPI 3.0 in the words of JSON Schema 2020-12', () => {
    const { route } = convertOne(
      jsonBody({
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'integer', readOnly: true },
          name: { type: 'string', nullable: true, example: 'Ann', maxLength: 5 },
          size: {
            type: 'number',
            minimum: 1,
            exclusiveMinimum: true,
            maximum: 9,
            exclusiveMaximum: false,
          },
          kind: { type: 'string', nullable: true, enum: ['a'] },
          any: { nullable: true, allOf: [{ type: 'string' }] },
          example: { type: 'string', required: true },
        },
      }),
      'post',
    );
    expect(route?.operation?.input_schema).to.deep.equal({
      type: 'object',
      required: ['name'],
      properties: {
        id: { type: 'integer', readOnly: true },
        name: { type: ['string', 'null'], examples: ['Ann'], maxLength: 5 },
        size: { type: 'number', exclusiveMinimum: 1, maximum: 9 },
        kind: { type: ['string', 'null'], enum: ['a', null] },
        any: { anyOf: [{ allOf: [{ type: 'string' }] }, { type: 'null' }] },
        example: { type: 'string' },
      },
    });
  });

  it('keeps texts beside references, and rules there as its version reads them', () => {
    const refer = { $ref: '#/components/schemas/User' };
    const owner = {
      ...refer,
      description: 'Who pays',
      deprecated: true,
      example: 'Bo',
      maxLength: 3,
    };
    const body = jsonBody({ type: 'object', properties: { owner } }, { responses: OK });
    const importWith = (version: string) => {
      const components = { schemas: { User: { type: 'string', description: 'A user' } } };
      const { manifest } = convert({ paths: { '/a': { post: body } }, components }, version);
      return manifest.http_routes[0]?.operation?.input_schema?.['properties'];
    };
    const texts = { description: 'Who pays', deprecated: true, examples: ['Bo'] };
    const kept = { $ref: 'manifest:schemas/User', ...texts };
    expect(importWith('3.0.3')).to.deep.equal({ owner: kept });
    expect(importWith('3.1.0')).to.deep.equal({ owner: { ...kept, maxLength: 3 } });
  });

  it('checks values of schemas at any depth', () => {
    let deep: object = { type: 'string' };
    let value: unknown = 1;
    for (let level = 0; level < 40; level += 1) {
      deep = level % 2 === 0 ? { properties: { a: deep } } : { items: { allOf: [deep] } };
      value = level % 2 === 0 ? { a: value } : [value];
    }
    let tower: unknown = 1;
    for (let level = 0; level < 110; level += 1) tower = [tower];
    const shared = { components: { schemas: { Deep: deep, 'Deep.1': { type: 'integer' } } } };
    const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const { manifest, unmapped } = convert({
      ...shared,
      paths: {
        '/a': { post: { ...jsonBody(deep), ...jsonResponse(refer('Deep')) } },
        '/b': { post: { ...jsonBody(refer('Deep.1')), ...jsonResponse({ enum: [tower] }) } },
      },
    });
    const checked = JSON.parse(JSON.stringify(manifest));
    expect(readManifest(checked, []).errors).to.deep.equal([]);
    const { schemas, http_routes: routes } = checked;
    for (const key of ['input_schema', 'output_schema']) {
      const schema = new SchemaRegistry(schemas).compile(routes[0].operation[key]);
      expect(schema.findViolations(value), key).to.have.length(1);
    }
    expect(unmapped.map(({ place, part }) => [place, part])).to.deep.equal([
      ['POST /b', 'output_schema'],
    ]);
    expect(routes[1].operation.output_schema).to.equal(undefined);
  });

  it('accepts alternatives that differ in nothing that the host checks', () => {
    const texts = {
      oneOf: [
        { type: 'string', format: 'uuid' },
        { type: 'string', title: 'Name' },
      ],
    };
    const { route, listed } = convertOne(jsonBody({ properties: { id: texts } }), 'post');
    expect(route?.operation?.input_schema).to.deep.equal({
      properties: { id: { anyOf: texts.oneOf } },
    });
    expect(listed).to.deep.equal([
      'POST /items: keyword oneOf: two alternatives accept the same values, since format is not checked: it becomes anyOf',
    ]);
    const [first, second] = [
      { type: 'string', maxLength: 1 },
      { type: 'string', minLength: 2 },
    ];
    const exact = convertOne(jsonBody({ oneOf: [first, second] }), 'post');
    expect(exact.route?.operation?.input_schema).to.deep.equal({ oneOf: [first, second] });
    expect(exact.listed).to.deep.equal([]);
    // A wider part does not make the schema around it stricter.
    const around = convertOne(jsonBody({ not: texts }), 'post');
    expect(around.route?.operation?.input_schema).to.equal(undefined);
  });

  it('does not require write-only members of responses', () => {
    const { route } = convertOne(
      jsonResponse({
        type: 'object',
        required: ['a', 'b'],
        properties: { b: { writeOnly: true } },
      }),
    );
    expect(route?.operation?.output_schema).to.deep.include({ required: ['a'] });
  });

  it('accepts null from an operation that also answers without a body', () => {
    const json = jsonResponse({ type: 'string' }).responses;
    const { route } = convertOne({ responses: { ...json, 204: { description: 'none' } } });
    expect(route?.operation?.output_schema).to.deep.equal({
      anyOf: [{ type: 'string' }, { enum: [null] }],
    });
  });

  it('has no schema for a response that the document does not describe', () => {
    const { 200: json } = jsonResponse({ type: 'string' }).responses;
    const schemaOf = (responses: object) =>
      convertOne({ responses }).route?.operation?.output_schema;
    const described = { description: 'done' };
    expect(schemaOf({ 200: described })).to.equal(undefined);
    expect(schemaOf({ 200: json, 202: described })).to.equal(undefined);
    expect(schemaOf({ default: described })).to.equal(undefined);
    expect(schemaOf({ 204: described })).to.deep.equal({ type: 'null' });
    const type = { type: 'string' };
    const orNone = { anyOf: [type, { enum: [null] }] };
    expect(schemaOf({ 204: json })).to.deep.equal(orNone);
    expect(schemaOf({ 200: json, 204: json })).to.deep.equal(orNone);
    expect(schemaOf({ default: json })).to.deep.equal(type);
    expect(schemaOf({ 303: described, default: json })).to.equal(undefined);
    expect(schemaOf({ 404: described, default: json })).to.deep.equal(type);
  });

  it('carries JSON or a text where the document does not describe the response', () => {
    const typesOf = (responses: object) => convertOne({ responses }).route?.operation;
    const described = { description: 'done' };
    for (const responses of [
      { 200: described },
      { 201: described, 204: described },
      { default: described },
      { 404: described },
      { 200: { content: {} } },
    ]) {
      const operation = typesOf(responses);
      expect(operation?.response_types, JSON.stringify(responses)).to.deep.equal(['text/*']);
    }
    const json = { content: { 'application/json': {} } };
    for (const responses of [{ 204: described }, { 200: json }, { 200: json, 202: described }]) {
      expect(typesOf(responses) ?? {}).to.not.have.property('response_types');
    }
  });

  it('opens WebSockets where the only success of a GET is a 101', () => {
    const opened = { 101: { description: 'switches' }, 400: { description: 'no handshake' } };
    const { route, listed } = convertOne({ responses: opened });
    expect(route).to.include({ method: 'GET', path: '/items' });
    expect(route?.operation).to.deep.equal({ stream: 'websocket' });
    expect(listed).to.deep.equal([]);
    const withTwoSuccesses = convertOne({ responses: { ...opened, ...OK } });
    expect(withTwoSuccesses.route?.operation?.stream).to.equal(undefined);
    const posted = convertOne({ responses: opened }, 'post');
    expect(posted.route?.operation?.stream).to.equal(undefined);
  });

  it('keeps an operation whose document names errors alone', () => {
    const responses = { 400: { description: 'invalid' }, 404: { description: 'none' } };
    const { route, listed } = convertOne({ responses }, 'delete');
    expect(route).to.include({ method: 'DELETE', path: '/items' });
    expect(route?.operation?.output_schema).to.equal(undefined);
    expect(listed).to.deep.equal([]);
  });

  for (const openapi of ['3.0.3', '3.1.0']) {
    it(`loses and lists the examples that violate its schemas (${openapi})`, () => {
      const schema = { type: 'object', required: ['age', 'name'] };
      const valid = { age: 1, name: 'a' };
      const examples = { bad: { value: { nope: 1 } }, good: { value: valid } };
      const content = (overrides: object) => ({
        content: { 'application/json': { schema, ...overrides } },
      });
      const operation = (input: object, output: object) => ({
        requestBody: { required: true, ...content(input) },
        responses: { 200: { description: 'ok', ...content(output) } },
      });
      const { manifest, unmapped } = convert(
        {
          paths: {
            '/a': { put: operation({ example: { nope: 1 } }, {}) },
            '/b': { put: operation({ examples }, {}) },
            '/c': { put: operation({}, { examples }) },
          },
        },
        openapi,
      );
      expect(manifest.http_routes.map(({ operation }) => operation?.examples)).to.deep.equal([
        undefined,
        [{ name: 'good', input: valid }],
        [{ name: 'good', output: valid }],
      ]);
      const listed = unmapped.map(({ place, part, reason }) => `${place}: ${part}: ${reason}`);
      expect(listed).to.deep.equal([
        "PUT /a: example example: 'examples[0].input.age' violates the schema: missing",
        "PUT /b: example bad: 'examples[0].input.age' violates the schema: missing",
        "PUT /c: example bad: 'examples[0].output.age' violates the schema: missing",
      ]);
    });
  }

  it('has the value of an example that is written as its text', () => {
    const text = '{"name": "Ann", "tags": [1]}';
    const readExamples = (schema: object, example: unknown) => {
      const content = { 'application/json': { schema, example } };
      const { route } = convertOne({ requestBody: { content }, responses: OK }, 'post');
      return route?.operation?.examples;
    };
    const value = [{ name: 'example', input: { name: 'Ann', tags: [1] } }];
    expect(readExamples({ type: 'object' }, text)).to.deep.equal(value);
    expect(readExamples({}, ` ${text}`)).to.deep.equal(value);
    const asText = [{ name: 'example', input: text }];
    expect(readExamples({ type: 'string' }, text)).to.deep.equal(asText);
    expect(readExamples({ type: ['string', 'null'] }, text)).to.deep.equal(asText);
    expect(readExamples({}, '{no')).to.deep.equal([{ name: 'example', input: '{no' }]);
    expect(readExamples({}, 'plain')).to.deep.equal([{ name: 'example', input: 'plain' }]);
  });

  it('may have its version as a number, as YAML reads it', () => {
    for (const [openapi, version] of [
      [3, '3.0'],
      [3.1, '3.1'],
    ]) {
      expect(parseOpenApi({ openapi }).version).to.equal(version);
    }
  });

  it('is rejected by name in another version', () => {
    const versions = [{ swagger: '1.2' }, { openapi: '3.3.0' }, { openapi: '4.0.0' }];
    const messages = versions.map((version) => {
      try {
        parseOpenApi(version);
        return 'accepted';
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(messages).to.deep.equal([
      'Swagger 1.2 is not supported: use Swagger 2.0, OpenAPI 3.0 to 3.2',
      'OpenAPI 3.3.0 is not supported: use Swagger 2.0, OpenAPI 3.0 to 3.2',
      'OpenAPI 4.0.0 is not supported: use Swagger 2.0, OpenAPI 3.0 to 3.2',
    ]);
  });

  it('survives hostile documents', () => {
    const circle = { $ref: '#/components/schemas/A' };
    const { manifest } = convert({
      paths: JSON.parse('{"/a": {"get": {"responses": null}}, "__proto__": {"get": {}}}'),
      components: { schemas: { A: circle } },
    });
    expect(manifest.http_routes).to.have.length(1);
    const nested = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
    expect(() => parseOpenApi({ openapi: '3.1.0', x: nested })).to.throw(/deeper than 200/);
    const { route } = convertOne(
      jsonBody(JSON.parse('{"properties": {"__proto__": {"type": "string"}, "a": true}}')),
      'post',
    );
    expect(route?.operation?.input_schema).to.deep.equal({ properties: { a: true } });
  });
});
