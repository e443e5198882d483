import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startFakeHost } from '../../support/cli/fake-host.js';
import { compile, createClientPlace } from '../../support/typescript/compile.js';
import { use } from '../../support/use.js';

const CODE = 'globalThis.injected = 1;';
/** Texts that end a comment, a string or a line, and then run code. */
const HOSTILE = [
  `*/ ${CODE} /*`,
  `**//${CODE}//`,
  `\`\${${CODE}}\``,
  `"; ${CODE} //`,
  `'; ${CODE} //`,
  `\\"; ${CODE} //`,
  ...['\n', '\r', '\u2028', '\u2029'].map((end) => `${end}${CODE}${end}`),
  `}; ${CODE} {`,
  '__proto__',
];

const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });

function describeGet(schema: unknown, schemas: object = {}, more: object = {}) {
  const responses = { 200: { description: '', ...json(schema) } };
  return {
    openapi: '3.1.0',
    info: { title: 'x', version: 'sha256:0' },
    paths: {
      '/modules/a/http/x': { get: { operationId: 'a.x', tags: ['a'], responses, ...more } },
    },
    components: { schemas },
  };
}

/** A document that has the text wherever it can have one. */
function describeHostile(text: string) {
  const schema = {
    ...{ type: 'object', title: text, description: text, format: text, default: text },
    [text]: text,
    properties: { [text]: { const: text, description: text }, value: { enum: [text, [text]] } },
    required: [text, `required ${text}`],
  };
  const parameters = [
    { in: 'path', name: text, 'x-modgate-name': text, schema },
    { in: 'query', name: text, schema },
  ];
  const operation = {
    ...{ operationId: text, tags: [text], summary: text, description: text },
    security: [{ bearer: [text] }],
    requestBody: json(schema),
    responses: { 200: json(schema), 404: json({ properties: { code: { const: text } } }) },
  };
  return {
    openapi: '3.1.0',
    info: { version: text },
    paths: {
      [`/modules/${text}/http/{${text}}`]: { parameters, post: operation },
      [`/${text}`]: {
        get: {
          ...operation,
          operationId: 'stream',
          responses: { 101: { 'x-modgate-stream': 'x' } },
        },
      },
    },
  };
}

describe('the types that modgate client writes', () => {
  const place = use(createClientPlace);

  async function write(document: object): Promise<string> {
    const host = await startFakeHost(() => ({ body: JSON.stringify(document) }));
    const args = ['client', '--url', host.url, '--token', 'x', '--out', 'types.ts'];
    const { code, stderr } = await place.run(args).finally(() => host.close());
    expect([code, stderr]).to.deep.equal([0, '']);
    return readFileSync(join(place.folder, 'types.ts'), 'utf8');
  }

  /** Compiles a use of `Data`, the data of the described route. */
  async function compileUse(document: object, use: string): Promise<string[]> {
    await write(document);
    const data =
      "paths['/modules/a/http/x']['get']['responses'][200]['content']['application/json']";
    const file = place.write(
      'use.ts',
      `import type { paths } from './types.js';\nexport type Data = ${data};\n${use}`,
    );
    return compile([file], { lib: ['es2022'], types: [] });
  }

  for (const text of HOSTILE) {
    it(`hold ${JSON.stringify(text)} only in strings and comments`, async () => {
      const types = await write(describeHostile(text));
      expect(
        compile([join(place.folder, 'types.ts')], { lib: ['es2022'], types: [] }),
      ).to.deep.equal([]);
      const bare = types.replaceAll(/\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|^\/\/.*$/gm, '');
      expect(bare).not.to.contain('injected');
    });
  }

  it('read no file and no other host that a document refers to', async () => {
    const other = await startFakeHost(() => ({ body: {} }));
    after(() => other.close());
    place.write('secret.json', { type: 'string', description: 'a secret' });
    const places = [`${other.url}/x.json`, './secret.json', join(place.folder, 'secret.json')];
    for (const $ref of places) {
      const types = await write({
        ...describeGet({
          type: 'object',
          properties: {
            a: { $ref },
            b: { default: { $ref }, examples: [{ $ref }], 'x-b': { $ref } },
          },
        }),
        'x-more': { $ref },
        tags: [{ $ref }],
      });
      expect(types).to.contain('a?: unknown;');
      expect(types).not.to.contain('a secret');
    }
    expect(other.requests).to.deep.equal([]);
  });

  it('keep the members beside alternatives', async () => {
    const alternatives = [{ required: ['a'] }, { required: ['b'] }];
    for (const keyword of ['anyOf', 'oneOf']) {
      const properties = { a: { type: 'string' }, b: { type: 'number' } };
      const schema = { type: 'object', properties, [keyword]: alternatives };
      const use = '// @ts-expect-error a text\nexport const data: Data = { a: 1 };';
      expect(await compileUse(describeGet(schema), use), keyword).to.deep.equal([]);
    }
  });

  it('allow other members beside known ones', async () => {
    const schema = {
      ...{ type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
      additionalProperties: { type: 'integer' },
    };
    const use = "export const data: Data = { a: 'x', b: 1 };";
    for (const one of [schema, { type: 'object' }]) {
      expect(await compileUse(describeGet(one), use)).to.deep.equal([]);
    }
  });

  it('compile where a part of a schema may be null, or is true or false', async () => {
    const Base = { type: ['object', 'null'], properties: { a: { type: 'string' } } };
    const schema = {
      required: ['a'],
      allOf: [{ $ref: '#/components/schemas/Base' }, true, false],
    };
    const use = "export const data: Data = { a: 'x' };";
    expect(await compileUse(describeGet(schema, { Base }), use)).to.deep.equal([]);
  });

  it('do not require members that have a default', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string', default: 'x' } } };
    expect(await compileUse(describeGet(schema), 'export const data: Data = {};')).to.deep.equal(
      [],
    );
  });

  it('have schemas of the same names as those of the host', async () => {
    const own = { type: 'object', properties: { a: { type: 'string' } } };
    const use = `import type { components } from './types.js';
export const error: components['schemas']['a.Error'] = { a: 'x' };`;
    const document = describeGet({ $ref: '#/components/schemas/a.Error' }, { 'a.Error': own });
    expect(await compileUse(document, use)).to.deep.equal([]);
  });

  it('leave out streams of events and WebSockets, and say so', async () => {
    const more = { responses: { 200: { 'x-modgate-stream': 'sse' } } };
    const types = await write(describeGet({}, {}, more));
    expect(types).to.contain('WebSockets:\n// - GET /modules/a/http/x\n');
    expect(types).to.contain('export type paths = Record<string, never>;');
  });
});
