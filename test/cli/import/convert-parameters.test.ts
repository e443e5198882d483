import { expect } from 'chai';
import { convertParameters } from '../../../core/cli/import/convert-parameters.js';
import { parseOpenApi } from '../../../core/cli/import/parse-openapi.js';
import { SharedDefinitions } from '../../../core/cli/import/shared-definitions.js';
import { UnmappedParts } from '../../../core/cli/import/unmapped.js';
import { QuerySchema } from '../../../core/schema/query-schema.js';
import { convert, convertOne, OK } from '../../support/cli/convert-operation.js';

const TAGS = { type: 'array', items: { type: 'string' } };
const NULL = { type: 'null' };
const CIRCLE = { anyOf: [{ $ref: '#/components/schemas/Circle' }, { type: 'string' }] };

const DOCUMENT = parseOpenApi({
  openapi: '3.1.0',
  components: { schemas: { Tags: TAGS, Circle: CIRCLE } },
});

/** The property of the query parameter `tags`, what is listed, and which queries violate it. */
function convertTags(schema: object, overrides: object = {}) {
  const unmapped = new UnmappedParts();
  const shared = new SharedDefinitions(DOCUMENT);
  const { querySchema } = convertParameters(
    { parameters: [{ in: 'query', name: 'tags', schema, ...overrides }] },
    {},
    { document: DOCUMENT, unmapped, report: unmapped.at('GET /a'), shared },
  );
  const { properties } = querySchema as { properties: { tags: object } };
  const compiled = new QuerySchema({ type: 'object', properties });
  return {
    property: properties.tags,
    listed: unmapped.list().map(({ part, reason }) => `${part}: ${reason}`),
    rejects: (query: string) => compiled.findViolations(query).length > 0,
  };
}

describe('an imported query parameter', () => {
  const OPTIONAL_LISTS: readonly [title: string, schema: object][] = [
    ['beside null in anyOf', { title: 'Tags', anyOf: [TAGS, NULL] }],
    ['beside null in oneOf', { title: 'Tags', oneOf: [NULL, TAGS] }],
    ['behind a reference', { title: 'Tags', anyOf: [{ $ref: '#/components/schemas/Tags' }, NULL] }],
    ['with null as a second type', { title: 'Tags', ...TAGS, type: ['array', 'null'] }],
  ];
  for (const [title, schema] of OPTIONAL_LISTS) {
    it(`is a list for a list ${title}`, () => {
      const { property, listed, rejects } = convertTags(schema);
      expect(property).to.deep.equal({ title: 'Tags', ...TAGS });
      expect(listed).to.deep.equal([]);
      expect(rejects('tags=a&tags=b')).to.equal(false);
    });
  }

  it('is a list of any values for a list beside other schemas', () => {
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const nested = { anyOf: [{ $ref: '#/components/schemas/Tags' }, NULL] };
      const { property, listed, rejects } = convertTags({ [keyword]: [{ minLength: 9 }, nested] });
      expect(property).to.deep.equal({ type: 'array', items: {} });
      expect(listed).to.deep.equal([
        'schema of the query parameter tags: the host accepts any list of values',
      ]);
      expect([rejects('tags=a&tags=b'), rejects('tags=a')]).to.deep.equal([false, false]);
    }
  });

  it('is text for a list in one value', () => {
    const { property } = convertTags({ anyOf: [TAGS, NULL] }, { explode: false });
    expect(property).to.deep.equal({ type: 'string' });
  });

  it('has the rules of a single value beside null', () => {
    const { property, rejects } = convertTags({ anyOf: [{ type: 'integer', minimum: 2 }, NULL] });
    expect(property).to.deep.equal({ type: 'integer', minimum: 2 });
    expect([rejects('tags=2'), rejects('tags=1')]).to.deep.equal([false, true]);
  });

  it('has the rules of the only schema of a combination', () => {
    const others = { title: 'Tags', default: 'a', nullable: true, 'x-order': 1 };
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const { property, listed, rejects } = convertTags({
        ...others,
        [keyword]: [{ type: ['integer', 'null'], minimum: 2 }],
      });
      expect(property).to.include({ type: 'integer', minimum: 2 });
      expect(listed.filter((line) => line.includes('parameter'))).to.deep.equal([]);
      expect([rejects('tags=2'), rejects('tags=1')]).to.deep.equal([false, true]);
    }
  });

  it('has the type of its listed values', () => {
    const VALUES: readonly [rules: object, good: string, bad: string][] = [
      [{ enum: ['a', 'b', null] }, 'a', 'c'],
      [{ enum: [1, 2.5] }, '2.5', '3'],
      [{ const: true }, 'true', 'false'],
      [{ type: 'array', items: { enum: ['a'] } }, 'a', 'b'],
    ];
    for (const [rules, good, bad] of VALUES) {
      const { rejects, listed } = convertTags(rules);
      expect(listed).to.deep.equal([]);
      expect([rejects(`tags=${good}`), rejects(`tags=${bad}`)]).to.deep.equal([false, true]);
    }
    const mixed = convertTags({ enum: ['a', 1] });
    expect(mixed.listed).to.have.lengthOf(1);
    expect([mixed.rejects('tags=a'), mixed.rejects('tags=1')]).to.deep.equal([false, false]);
  });

  it('keeps rules of items only where the host reads their type', () => {
    const items = { anyOf: [{ type: 'integer' }, { type: 'boolean' }] };
    const { property, listed, rejects } = convertTags({ type: 'array', maxItems: 2, items });
    expect(property).to.deep.equal({ type: 'array', maxItems: 2, items: {} });
    expect(listed).to.deep.equal([
      'items of the query parameter tags: the host does not check them',
    ]);
    expect([rejects('tags=1&tags=true'), rejects('tags=1&tags=2&tags=3')]).to.deep.equal([
      false,
      true,
    ]);
    const optional = convertTags({ type: 'array', items: { anyOf: [{ type: 'integer' }, NULL] } });
    expect([optional.rejects('tags=1'), optional.rejects('tags=x')]).to.deep.equal([false, true]);
  });

  it('may be empty where the document allows an empty value', () => {
    const boolean = { type: 'boolean' };
    const { property, listed, rejects } = convertTags(boolean, { allowEmptyValue: true });
    expect(property).to.deep.equal({});
    expect(listed).to.deep.equal([
      'schema of the query parameter tags: the host accepts any value, since it may be empty',
    ]);
    expect([rejects('tags'), rejects('tags=true')]).to.deep.equal([false, false]);
    const text = convertTags({ type: 'string', minLength: 1 }, { allowEmptyValue: true });
    expect([text.rejects('tags='), text.rejects('tags=a')]).to.deep.equal([false, false]);
    const plain = convertTags({ type: 'string' }, { allowEmptyValue: true });
    expect([plain.property, plain.listed]).to.deep.equal([{ type: 'string' }, []]);
    const list = convertTags(TAGS, { allowEmptyValue: true });
    expect(list.property).to.deep.equal(TAGS);
  });

  it('has the texts beside its references, and the rules beside that of its schema', () => {
    const refer = (place: string) => ({ $ref: `#/components/${place}` });
    const importWith = (version: string) => {
      const { manifest } = convert(
        {
          components: {
            parameters: {
              N: {
                ...{ in: 'query', name: 'n', description: 'Far', example: 2 },
                schema: { ...refer('schemas/N'), description: 'Nearer', minimum: 1 },
              },
              M: { ...refer('parameters/N'), description: 'Near', required: true },
            },
            schemas: { N: { type: 'integer', description: 'Farthest', maximum: 9 } },
          },
          paths: {
            '/a': { get: { responses: OK, parameters: [refer('parameters/M')] } },
            '/b': {
              get: {
                responses: OK,
                parameters: [{ ...refer('parameters/M'), description: 'Nearest' }],
              },
            },
          },
        },
        version,
      );
      return manifest.http_routes.map(({ operation }) => operation?.query_schema);
    };
    for (const [version, rules] of [
      ['3.0.3', { type: 'integer', maximum: 9 }],
      ['3.1.0', { type: 'integer', maximum: 9, minimum: 1 }],
    ] as const) {
      const schemas = ['Near', 'Nearest'].map((description) => {
        return { type: 'object', properties: { n: { ...rules, examples: [2], description } } };
      });
      expect(importWith(version), version).to.deep.equal(schemas);
    }
  });

  it('accepts every value where references form a circle', () => {
    const { property } = convertTags({ $ref: '#/components/schemas/Circle' });
    expect(property).to.deep.equal({});
  });
});

describe('an imported header parameter', () => {
  const list = (names: readonly string[]) => {
    const unmapped = new UnmappedParts();
    const shared = new SharedDefinitions(DOCUMENT);
    const parameters = names.map((name) => ({ in: 'header', name }));
    convertParameters(
      { parameters },
      {},
      { document: DOCUMENT, unmapped, report: unmapped.at('GET /a'), shared },
    );
    return unmapped.list().map(({ part, reason }) => `${part}: ${reason}`);
  };

  it('is not listed if providers get it, or the value of the request', () => {
    const names = ['Prefer', 'X-Request-ID', 'x-correlation-id', 'traceparent', 'tracestate'];
    expect(list(names)).to.deep.equal([]);
  });

  it('is listed with the reason if no descriptor can forward it', () => {
    expect(list(['X-Forwarded-For', 'Cookie', 'Accept-Encoding'])).to.deep.equal([
      'header X-Forwarded-For: headers that start with x-forwarded- are never forwarded',
      'header Cookie: this header is never forwarded',
      'header Accept-Encoding: the host sets this header itself',
    ]);
  });
});

describe('an imported parameter that a query schema cannot express', () => {
  it('is one that the host shows and does not check', () => {
    const filter = { type: 'object', properties: { a: { $ref: '#/components/schemas/Tags' } } };
    const { manifest, unmapped } = convert({
      components: { schemas: { Tags: { ...TAGS, nullable: true } } },
      paths: {
        '/a': {
          get: {
            responses: OK,
            parameters: [
              { in: 'query', name: 'f', style: 'deepObject', required: true, schema: filter },
              {
                in: 'query',
                name: 'form',
                description: 'A form',
                schema: filter,
                example: { a: 1 },
              },
              { in: 'query', name: 'plain', schema: { type: 'string' } },
              { in: 'header', name: 'Prefer', allowReserved: true, schema: { type: 'string' } },
              { in: 'header', name: 'X-Tenant', schema: { type: 'integer', nullable: true } },
              ...['Accept', 'Cookie', 'a b'].map((name) => ({ in: 'header', name })),
              { in: 'header', name: 'Idempotency-Key', required: true },
            ],
          },
        },
      },
    });
    const schema = { ...filter, properties: { a: { $ref: 'manifest:schemas/Tags' } } };
    const { parameters, query_schema } = manifest.http_routes[0]?.operation ?? {};
    expect(parameters).to.deep.equal([
      { name: 'f', in: 'query', required: true, style: 'deepObject', schema },
      { name: 'form', in: 'query', description: 'A form', schema, example: { a: 1 } },
      { name: 'Prefer', in: 'header', schema: { type: 'string' } },
      { name: 'X-Tenant', in: 'header', schema: { type: ['integer', 'null'] } },
    ]);
    expect(query_schema?.['properties']).to.have.keys('plain');
    expect(manifest.schemas).to.have.keys('Tags');
    expect(unmapped.map(({ part }) => part)).to.include.members([
      ...['object in the query parameter f', 'header X-Tenant', 'header Cookie'],
    ]);
  });

  it('is left out alone where the host rejects it', () => {
    const parameters = [
      { in: 'query', name: 'id', style: 'deepObject' },
      { in: 'query', name: 'f', style: 'deepObject' },
    ];
    const { route, listed } = convertOne({ parameters }, 'get', '/{id}');
    expect(route?.operation?.parameters?.map(({ name }) => name)).to.deep.equal(['f']);
    expect(listed.join()).to.include('GET /{id}: parameter id: ');
    const long = { in: 'query', name: 'f', style: 'deepObject', description: 'x'.repeat(70_000) };
    const all = convertOne({ parameters: [long] });
    expect(all.route?.operation?.parameters).to.equal(undefined);
    expect(all.listed.join()).to.include('GET /items: parameters: ');
  });
});

describe('examples of an imported parameter', () => {
  const NAMED = {
    few: { summary: 'A few', value: 3 },
    many: { $ref: '#/components/examples/Many' },
    newer: { dataValue: 5 },
  };
  const convertParameter = (parameter: object, path = '/a') => {
    const { manifest, unmapped } = convert(
      {
        components: { examples: { Many: { value: 100 } } },
        paths: { [path]: { get: { responses: OK, parameters: [parameter] } } },
      },
      '3.2.0',
    );
    const lines = unmapped.filter(({ part }) => part.startsWith('example'));
    return {
      operation: manifest.http_routes[0]?.operation,
      listed: lines.map(({ part, reason }) => `${part}: ${reason}`),
    };
  };

  it('are those of its property', () => {
    const schema = { type: 'integer' };
    const query = { in: 'query', name: 'n' };
    const readProperties = (parameter: object) => {
      const { operation } = convertParameter({ ...query, ...parameter });
      return operation?.query_schema?.['properties'];
    };
    const examples = [3, 100, 5];
    const named = readProperties({ schema, examples: NAMED });
    expect(named).to.deep.equal({ n: { ...schema, examples } });
    const single = readProperties({ schema, example: 7 });
    expect(single).to.deep.equal({ n: { ...schema, examples: [7] } });
    const own = { ...schema, examples: [9] };
    expect(readProperties({ schema: own, example: 7 })).to.deep.equal({ n: own });
    const path = { ...{ in: 'path', name: 'n' }, schema, examples: NAMED };
    const { operation } = convertParameter(path, '/{n}');
    expect(operation?.path_params_schema?.['properties']).to.deep.equal({
      n: { ...schema, examples },
    });
  });

  it('keep their names and summaries where the host does not check it', () => {
    const form = { in: 'query', name: 'f', style: 'deepObject', schema: { type: 'object' } };
    const json = { 'application/json': { example: { a: 1 } } };
    const named = { one: { summary: 'One', value: { a: 1 } }, two: { value: {} } };
    const readExamples = (parameter: object) => {
      const [one] = convertParameter(parameter).operation?.parameters ?? [];
      return { example: one?.example, examples: one?.examples };
    };
    expect(readExamples({ ...form, examples: named })).to.deep.equal({
      ...{ example: undefined, examples: named },
    });
    const header = { in: 'header', name: 'X-A', content: json };
    expect(readExamples(header)).to.deep.equal({ example: { a: 1 }, examples: undefined });
  });

  it('are listed where a manifest cannot hold them', () => {
    const examples = {
      away: { externalValue: 'https://a.example/b' },
      broken: { $ref: '#/components/examples/No' },
      marked: { value: { $ref: '#/x' } },
      list: { value: ['a', 'b'] },
    };
    const parameter = { in: 'query', name: 'n', explode: false, schema: TAGS, examples };
    const { operation, listed } = convertParameter(parameter);
    expect(operation?.query_schema?.['properties']).to.deep.equal({ n: { type: 'string' } });
    expect(listed).to.deep.equal([
      'example away: the document has no value of it',
      'example broken: it is a reference that leads nowhere',
      'example marked: tools read its members, such as $id, as keywords',
      'example list: the host reads one text',
    ]);
  });

  it('tell whether its value may hold a slash, behind references too', () => {
    const parameter = {
      in: 'path',
      name: 'n',
      examples: { a: { $ref: '#/components/examples/S' } },
    };
    const listed = { in: 'path', name: 'n', schema: { $ref: '#/components/schemas/S' } };
    for (const one of [parameter, listed]) {
      const { manifest } = convert({
        components: { examples: { S: { value: 'a/b' } }, schemas: { S: { enum: ['a/b'] } } },
        paths: { '/{n}': { get: { responses: OK, parameters: [one] } } },
      });
      expect(manifest.http_routes[0]?.operation?.encoded).to.deep.equal(['n']);
    }
  });
});
