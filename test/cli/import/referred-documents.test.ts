import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FakeAnswer, startFakeHost } from '../../support/cli/fake-host.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { useEach } from '../../support/use.js';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const HEAD = { openapi: '3.1.0', info: { title: 'Shop', version: '1' } };

const PET = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' } },
};
const ANIMALS = { oneOf: [{ $ref: './Cat.json' }, { $ref: 'Dog.json#' }] };
const NAMED = { propertyName: 'kind', mapping: { cat: './Cat.json', dog: 'Dog.json' } };
const NODE = { type: 'object', properties: { child: { $ref: 'Node.json' } } };

/** The same API, in several files and in one. */
const SOURCES: Readonly<Record<string, object>> = {
  'shop.json': {
    ...HEAD,
    paths: {
      '/pets': { $ref: 'paths/pets.json' },
      '/nodes': { post: { $ref: './paths/nodes.json#/create~1node' } },
    },
    components: { schemas: { Local: { type: 'string' } } },
  },
  'paths/pets.json': {
    parameters: [{ $ref: '../shared.json#/parameters/limit' }],
    get: { responses: { 200: { $ref: '../shared.json#/responses/pets' } } },
    post: {
      requestBody: { $ref: '../shared.json#/body' },
      responses: { 200: { description: 'ok', ...json({ $ref: '../models/Animal.json' }) } },
    },
  },
  'paths/nodes.json': {
    'create/node': {
      requestBody: { required: true, ...json({ $ref: '../models/Node.json' }) },
      responses: {
        200: { description: 'ok', ...json({ $ref: '../shop.json#/components/schemas/Local' }) },
      },
    },
  },
  'shared.json': {
    parameters: { limit: { in: 'query', name: 'limit', schema: { type: 'integer' } } },
    responses: { pets: { description: 'ok', ...json({ items: { $ref: 'models/Pet.json' } }) } },
    body: { required: true, ...json({ $ref: 'models/Pet.json' }) },
  },
  'models/Pet.json': PET,
  'models/Animal.json': { ...ANIMALS, discriminator: NAMED },
  'models/Cat.json': { type: 'object', properties: { kind: {}, lives: { type: 'integer' } } },
  'models/Dog.json': { type: 'object', properties: { kind: {}, name: { type: 'string' } } },
  'models/Node.json': NODE,
};
const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const BUNDLE = {
  ...HEAD,
  paths: {
    '/pets': {
      parameters: [{ in: 'query', name: 'limit', schema: { type: 'integer' } }],
      get: { responses: { 200: { description: 'ok', ...json({ items: refer('Pet') }) } } },
      post: {
        requestBody: { required: true, ...json(refer('Pet')) },
        responses: { 200: { description: 'ok', ...json(refer('Animal')) } },
      },
    },
    '/nodes': {
      post: {
        requestBody: { required: true, ...json(refer('Node')) },
        responses: { 200: { description: 'ok', ...json(refer('Local')) } },
      },
    },
  },
  components: {
    schemas: {
      Local: { type: 'string' },
      Pet: PET,
      Animal: {
        oneOf: [refer('Cat'), refer('Dog')],
        discriminator: { propertyName: 'kind', mapping: { cat: 'Cat', dog: 'Dog' } },
      },
      Cat: SOURCES['models/Cat.json'],
      Dog: SOURCES['models/Dog.json'],
      Node: { type: 'object', properties: { child: refer('Node') } },
    },
  },
};

describe('modgate import of a document that refers to others', () => {
  const place = useEach(createWorkplace);

  const importFrom = (source: string, ...overrides: string[]) =>
    place.run([
      ...['import', 'openapi', source, '--module', 'shop'],
      ...['--endpoint', 'http://127.0.0.1:4100', '--json', ...overrides],
    ]);
  const writeAll = (files: Readonly<Record<string, object | string>>) => {
    for (const [name, content] of Object.entries(files)) place.write(name, content);
  };
  const readManifest = (folder = 'modules.d') =>
    JSON.parse(readFileSync(join(place.folder, folder, 'shop/manifest.json'), 'utf8'));

  /** Imports a document, and returns its lines and the operation of its only route. */
  const importOne = async (document: object, source = 'api/shop.json') => {
    place.write(source, { ...HEAD, ...document });
    const { code, stdout, stderr } = await importFrom(source);
    expect(code, stderr).to.equal(0);
    const { unmapped } = JSON.parse(stdout) as { unmapped: { part: string; reason: string }[] };
    const { http_routes: routes, schemas } = readManifest();
    const lines = unmapped.map(({ part, reason }) => `${part}: ${reason}`);
    return { lines, route: routes[0], schemas };
  };
  const post = (operation: object) => ({ paths: { '/a': { post: operation } } });

  it('reads files below its folder as if all were one', async () => {
    writeAll({ ...SOURCES, 'bundle.json': BUNDLE });
    const separate = await importFrom('shop.json');
    const together = await importFrom('bundle.json', '--out', 'bundled');
    expect(separate.code, separate.stderr).to.equal(0);
    expect(readManifest()).to.deep.equal(readManifest('bundled'));
    expect(JSON.parse(separate.stdout).unmapped).to.deep.equal(
      JSON.parse(together.stdout).unmapped,
    );
  });

  it('follows references in examples, which are values', async () => {
    writeAll({
      'api/examples.json': {
        pet: { id: 1, tag: { $ref: '#/tag' } },
        tag: 'cat',
        more: { $ref: '' },
      },
    });
    const examples = { many: { value: [{ $ref: 'examples.json#/pet' }] } };
    const named = { ...json({ type: 'array' }).content['application/json'], examples };
    const media = {
      schema: { properties: { tag: { example: { $ref: 'examples.json#/tag' } } } },
      example: { $ref: './examples.json#/pet' },
    };
    const { lines, route } = await importOne(
      post({
        requestBody: { required: true, content: { 'application/json': media } },
        responses: { 200: { description: 'ok', content: { 'application/json': named } } },
      }),
    );
    const pet = { id: 1, tag: 'cat' };
    expect(route.operation.input_schema.properties).to.deep.equal({ tag: { examples: ['cat'] } });
    expect(route.operation.examples).to.deep.equal([
      { name: 'example', input: pet },
      { name: 'many', output: [pet] },
    ]);
    expect(lines).to.deep.equal([]);
  });

  it('keeps references within values of schemas', async () => {
    const value = { $ref: 'no.json', $id: 'https://a.example/no' };
    const properties = {
      a: { const: value },
      b: { enum: [value, { $ref: '#/components' }] },
      c: { default: value },
      default: { $ref: 'types.json#/default' },
    };
    writeAll({ 'api/types.json': { default: { type: 'string' } } });
    const { lines, route, schemas } = await importOne(
      post({
        requestBody: { required: true, ...json({ type: 'object', properties }) },
        responses: { default: { $ref: 'types.json' } },
      }),
    );
    expect(route.operation.input_schema.properties).to.deep.equal({
      ...properties,
      default: { $ref: 'manifest:schemas/default' },
    });
    expect(schemas).to.deep.equal({ default: { type: 'string' } });
    expect(lines).to.deep.equal([]);
  });

  it('lists examples whose references have no end', async () => {
    const doubled = Array.from({ length: 30 }, (_, index) => {
      const next = { $ref: `#/x${index + 1}` };
      return [`x${index}`, [next, next]];
    });
    writeAll({ 'api/e.json': { ...Object.fromEntries(doubled), loop: { a: { $ref: '#/loop' } } } });
    for (const name of ['x0', 'loop', 'no']) {
      const media = { schema: {}, example: { $ref: `e.json#/${name}` } };
      const { lines, route } = await importOne(
        post({ requestBody: { required: true, content: { 'application/json': media } } }),
        `api/${name}.json`,
      );
      expect(route.operation?.examples).to.equal(undefined);
      expect(lines).to.deep.equal([
        'example example: tools read its members, such as $id, as keywords',
      ]);
    }
  });

  it('finds changes of the files that it refers to', async () => {
    writeAll(SOURCES);
    await importFrom('shop.json');
    expect((await importFrom('shop.json', '--check')).code).to.equal(0);
    place.write('models/Pet.json', { ...PET, required: ['name'] });
    expect((await importFrom('shop.json', '--check')).code).to.equal(1);
    expect((await importFrom('shop.json', '--write')).code).to.equal(0);
    expect((await importFrom('shop.json', '--check')).code).to.equal(0);
  });

  const BROKEN: readonly [title: string, reference: string, line: string][] = [
    ['a missing file', 'no.json#/a', 'a reference: no.json does not exist'],
    ['a missing place', '#/components/responses/No', 'a reference that leads nowhere'],
    ['a missing place in a file', 'ok.json#/no', 'a reference that leads nowhere'],
    ['an invalid file', 'bad.yaml', 'a reference: bad.yaml is not valid YAML at line 3: '],
    ['a file above', '../secret.json', 'a reference that leaves the folder of the document: ../'],
    [
      'a missing file above',
      '../missing.json',
      'a reference that leaves the folder of the document: ../',
    ],
    ['a path', '/etc/hostname', 'a reference that leaves the folder of the document: ../'],
    ['a link to a file above', 'link.json', 'leaves the folder of the document: link.json'],
    ['another scheme', 'https://other.example/a.json', 'a reference to another scheme: https:'],
    ['a text', 'text.yaml', 'a reference to what is no mapping'],
  ];
  for (const [title, reference, line] of BROKEN) {
    it(`accepts any body and any response where it refers to ${title}, with a line`, async () => {
      writeAll({ 'secret.json': json({}), 'api/ok.json': {}, 'api/bad.yaml': 'a: b\nc: [\n' });
      place.write('api/text.yaml', 'text');
      symlinkSync('../secret.json', join(place.folder, 'api/link.json'));
      const broken = { $ref: reference };
      const { lines, route } = await importOne(
        post({ parameters: [broken], requestBody: broken, responses: { 200: broken } }),
      );
      expect(route.operation).to.deep.equal({ body: 'bytes', response: 'bytes' });
      expect(lines).to.have.length(3);
      for (const [index, subject] of ['body of the request', 'response', 'a parameter'].entries()) {
        expect(lines[index]).to.include(`${subject}: it is `).and.to.include(line);
      }
    });
  }

  it('reads at most 10,000 documents', async () => {
    const parameters = Array.from({ length: 10_001 }, (_, index) => ({ $ref: `n${index}.json` }));
    const { lines } = await importOne(post({ parameters }));
    const missing = lines.filter((line) => /n\d+\.json does not exist/.test(line));
    const others = lines.filter((line) => !missing.includes(line));
    expect(missing).to.have.length(10_000);
    expect(others).to.have.length(1);
    expect(others[0]).to.include('it is a reference to more than 10000 other documents');
  });

  it('reads at most 64 MiB', async () => {
    const space = ' '.repeat(30 * 1024 * 1024);
    const parameter = JSON.stringify({ in: 'query', name: 'a', schema: { type: 'string' } });
    const names = ['a.json', 'b.json', 'c.json'];
    writeAll(Object.fromEntries(names.map((name) => [`api/${name}`, `${parameter}${space}`])));
    const parameters = names.map(($ref) => ({ $ref }));
    const { lines, route } = await importOne(post({ parameters }));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include('it is a reference to more than 64 MiB');
    expect(route.operation.query_schema.properties).to.have.keys('a');
  });

  it('has a route for an operation that cannot be read, and a line for a path', async () => {
    const { lines, route } = await importOne({
      paths: { '/a': { delete: { $ref: 'no.json' } }, '/b': { $ref: 'no.json' } },
    });
    expect(route).to.deep.include({ method: 'DELETE', path: '/a' });
    expect(route.operation).to.deep.equal({ body: 'bytes', response: 'bytes' });
    expect(lines).to.include('the path: it is a reference: no.json does not exist');
  });

  it('follows references to an $id and an $anchor', async () => {
    const { lines, route } = await importOne({
      ...post({ requestBody: { required: true, ...json({ $ref: 'https://shop.example/Pet' }) } }),
      components: {
        schemas: {
          Pet: {
            $id: 'https://shop.example/Pet',
            $defs: { Name: { $anchor: 'name', type: 'string' } },
            properties: { a: { $ref: '#name' }, b: { $ref: '#/$defs/Name' }, c: { $ref: 'Age' } },
          },
          Age: { $id: 'https://shop.example/Age', type: 'integer' },
        },
      },
    });
    expect(lines.filter((line) => line.includes('reference'))).to.deep.equal([]);
    expect(route.operation.input_schema).to.deep.equal({ $ref: 'manifest:schemas/Pet' });
    expect(readManifest().schemas).to.deep.include({
      Name: { type: 'string' },
      Age: { type: 'integer' },
    });
  });

  it('reads what components refer to whose names begin like those of extensions', async () => {
    writeAll({ 'tenant.json': { name: 'tenant', in: 'query', schema: { type: 'integer' } } });
    place.write('shop.json', {
      ...HEAD,
      paths: {
        '/a': {
          get: {
            parameters: [{ $ref: '#/components/parameters/x-tenant' }],
            responses: { 200: { description: 'ok' } },
          },
        },
      },
      components: { parameters: { 'x-tenant': { $ref: 'tenant.json' } } },
    });
    const { code, stdout } = await importFrom('shop.json');
    expect(code).to.equal(0);
    expect(stdout).to.not.include('not mapped');
    const { http_routes: routes } = readManifest();
    const properties = { tenant: { type: 'integer' } };
    expect(routes[0].operation.query_schema).to.deep.equal({ type: 'object', properties });
  });

  it('converts the files of a document of Swagger 2.0', async () => {
    writeAll({
      'parts.json': {
        parameters: { body: { in: 'body', name: 'b', required: true, schema: { $ref: '#/Pet' } } },
        Pet: { type: 'object', properties: { name: { type: 'string', 'x-nullable': true } } },
        responses: { ok: { description: 'ok', schema: { $ref: 'shop.json#/definitions/Ok' } } },
      },
      'paths.json': {
        post: {
          parameters: [{ $ref: 'parts.json#/parameters/body' }],
          responses: { 200: { $ref: 'parts.json#/responses/ok' } },
        },
      },
    });
    const document = {
      swagger: '2.0',
      paths: { '/a': { $ref: 'paths.json' } },
      definitions: { Ok: { type: 'boolean' } },
    };
    const { openapi: _openapi, ...head } = HEAD;
    place.write('shop.json', { ...head, ...document });
    const { code, stderr } = await importFrom('shop.json');
    expect(code, stderr).to.equal(0);
    const { http_routes: routes, schemas } = readManifest();
    expect(routes[0].operation).to.deep.equal({
      input_schema: { $ref: 'manifest:schemas/Pet' },
      output_schema: { $ref: 'manifest:schemas/Ok' },
    });
    expect(schemas.Pet.properties).to.deep.equal({ name: { type: ['string', 'null'] } });
  });

  it('reads URLs of its origin alone, without redirects', async () => {
    const other = await startFakeHost(() => ({ body: PET }));
    const server = await startFakeHost(({ pathname }): FakeAnswer => {
      if (pathname === '/api/moved.json')
        return { status: 302, headers: { location: '/api/pet.json' }, body: '' };
      if (pathname === '/api/pet.json') return { body: PET };
      const schemas = ['pet.json', 'moved.json', `${other.url}/pet.json`, 'file:///etc/hostname'];
      const properties = Object.entries(schemas).map(([n, $ref]) => [`p${n}`, { $ref }]);
      const schema = { properties: Object.fromEntries(properties) };
      return { body: { ...HEAD, ...post({ requestBody: { required: true, ...json(schema) } }) } };
    });
    try {
      const { code, stdout, stderr } = await importFrom(`${server.url}/api/shop.json`);
      expect(code, stderr).to.equal(0);
      const parts = JSON.parse(stdout).unmapped.map(({ part }: { part: string }) => part);
      expect(parts.join('\n'))
        .to.match(/moved\.json answered with a redirect/)
        .and.match(/a reference to another origin: /)
        .and.match(/a reference to another scheme: file:/);
      expect(readManifest().http_routes[0].operation.input_schema.properties).to.deep.equal({
        ...{ p0: { $ref: 'manifest:schemas/pet' }, p1: {}, p2: {}, p3: {} },
      });
      expect(other.requests).to.have.length(0);
    } finally {
      await Promise.all([server.close(), other.close()]);
    }
  });
});
