import { expect } from 'chai';
import type { JsonSchema, RouteParameter } from '../../../core/contract/index.js';
import { listSchemaChanges } from '../../../core/modules/against/compare-schemas.js';
import { SchemaPairs } from '../../../core/modules/against/schema-pairs.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const ITEM = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, kind: { enum: ['a', 'b'] } },
};
const withItem = (overrides: object) => ({
  ...ITEM,
  properties: { ...ITEM.properties, ...overrides },
});

const RECURSIVE = [
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'],
  ...['prefixItems', 'patternProperties', 'dependentSchemas', 'unevaluatedItems'],
  'unevaluatedProperties',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['patternProperties', 'dependentSchemas'];

const wrap = (keyword: string, schema: object) => {
  if (LISTS.includes(keyword)) return [schema];
  return MAPS.includes(keyword) ? { x: schema } : schema;
};

/** A schema that each keyword leads back to, as filters of published APIs do. */
const recursive = (type: string) => ({
  properties: Object.fromEntries(
    RECURSIVE.map((keyword) => [keyword, { items: { [keyword]: wrap(keyword, { $ref: '#' }) } }]),
  ),
  additionalProperties: { type },
});

const circle = (type: string) => ({
  a: { properties: { next: { anyOf: [{ $ref: '#/$defs/b' }, { type: 'null' }] } } },
  b: { properties: { next: { oneOf: [{ $ref: '#/$defs/a' }] }, value: { type } } },
});

/** Shared schemas in a circle. Circles of different lengths lead to as many pairs as their product. */
const ring = (length: number) => {
  const links = Array.from({ length }, (_, index) => {
    const next = { $ref: `manifest:schemas/d${(index + 1) % length}` };
    return [`d${index}`, { properties: { next } }];
  });
  return Object.fromEntries(links);
};

const LENGTH = 3000;
const chain = (type: string) => {
  const links = Array.from({ length: LENGTH }, (_, index) => [
    `d${index}`,
    { properties: { n: { $ref: `#/$defs/d${index + 1}` } } },
  ]);
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(links), [`d${LENGTH}`]: { type } } };
};
const END = `!${'/n'.repeat(LENGTH)}`;

type Row = readonly [
  name: string,
  before: JsonSchema | null,
  after: JsonSchema | null,
  input: string,
  output: string,
];

/** The effect of a change on a request and on a response: `!` breaks callers. */
const CHANGES: readonly Row[] = [
  ['nothing', ITEM, structuredClone(ITEM), '', ''],
  ['a description', ITEM, { ...ITEM, description: 'An item' }, '', ''],
  ['a new required member', ITEM, { ...ITEM, required: ['name', 'kind'] }, '!/kind', '/kind'],
  ['a member that is no longer required', ITEM, { ...ITEM, required: [] }, '/name', '!/name'],
  ['a new optional member', ITEM, withItem({ size: {} }), '/size', '/size'],
  ['a removed member', withItem({ size: {} }), ITEM, '/size', '!/size'],
  ['a narrowed type', ITEM, withItem({ name: { type: [] } }), '!/name', '/name'],
  ['a widened type', ITEM, withItem({ name: { type: ['string', 'null'] } }), '/name', '!/name'],
  ['number to integer', { type: 'number' }, { type: 'integer' }, '!.', '.'],
  ['integer to number', { type: 'integer' }, { type: 'number' }, '.', '!.'],
  ['a removed value', ITEM, withItem({ kind: { enum: ['a'] } }), '!/kind', '/kind'],
  ['an added value', ITEM, withItem({ kind: { enum: ['a', 'b', 'c'] } }), '/kind', '!/kind'],
  ['a tighter bound', { maximum: 10 }, { maximum: 9 }, '!.', '.'],
  ['a looser bound', { minLength: 2 }, {}, '.', '!.'],
  ['a new pattern', { type: 'string' }, { type: 'string', pattern: 'a' }, '!.', '.'],
  ['another pattern', { pattern: 'b' }, { pattern: 'a' }, '!.', '!.'],
  ['no other members', ITEM, { ...ITEM, additionalProperties: false }, '!/*', '/*'],
  ['a new schema', null, { type: 'object' }, '!.', '.'],
  ['no value at all', {}, false, '!.', '.'],
  [
    'a change behind references',
    { $defs: { a: { items: { type: 'string' } } }, $ref: '#/$defs/a' },
    { $defs: { b: { type: 'string' } }, items: { $ref: '#/$defs/b', title: 'B' } },
    '',
    '',
  ],
  [
    'a change in a recursive schema',
    { properties: { next: { $ref: '#' }, size: { type: 'integer' } } },
    { properties: { next: { $ref: '#' }, size: { type: 'string' } } },
    '!/size',
    '!/size',
  ],
  [
    'nothing below a keyword that leads back to the schema',
    recursive('string'),
    recursive('string'),
    '',
    '',
  ],
  ...RECURSIVE.map(
    (keyword): Row => [
      `a change behind ${keyword} that leads back to the schema`,
      { [keyword]: wrap(keyword, { $ref: '#/$defs/a' }), $defs: circle('string') },
      { [keyword]: wrap(keyword, { $ref: '#/$defs/a' }), $defs: circle('integer') },
      '!.',
      '!.',
    ],
  ),
  [
    'a bound beside a reference',
    { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a', maxLength: 5 },
    { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a', maxLength: 4 },
    '!.',
    '.',
  ],
  [
    'a change behind a reference with a bound beside it',
    { $defs: { a: { minLength: 1 } }, $ref: '#/$defs/a', maxLength: 5 },
    { $defs: { a: { minLength: 2 } }, $ref: '#/$defs/a', maxLength: 5 },
    '!.',
    '.',
  ],
  ['a change at the end of a long chain', chain('string'), chain('integer'), END, END],
];

/** The changed places, each once; the value as a whole is a point. */
async function show(
  key: 'input_schema' | 'output_schema',
  before: unknown,
  after: unknown,
): Promise<string> {
  const describe = (schema: unknown) => ({ operation: { [key]: schema }, shared: {} });
  const changes = await listSchemaChanges(describe(before), describe(after), new SchemaPairs());
  const places = changes.map(({ place, breaks }) => `${breaks ? '!' : ''}${place || '.'}`);
  return [...new Set(places)].join(' ');
}

describe('changes of schemas', () => {
  for (const [name, before, after, input, output] of CHANGES) {
    it(`explain the effect of ${name} on callers`, async () => {
      expect(await show('input_schema', before, after), 'input').to.equal(input);
      expect(await show('output_schema', before, after), 'output').to.equal(output);
    });
  }

  it('lead through shared schemas, also out of branches that are written alike', async () => {
    const operation = {
      input_schema: { $ref: 'manifest:schemas/Item' },
      query_schema: { properties: { at: { anyOf: [{ $ref: 'manifest:schemas/Size' }] } } },
    };
    const describe = (size: JsonSchema) => ({
      operation: structuredClone(operation),
      shared: { Item: { properties: { size: { $ref: 'manifest:schemas/Size' } } }, Size: size },
    });
    const sizes = [describe({ maximum: 9 }), describe({ maximum: 8 })] as const;
    const changes = await listSchemaChanges(...sizes, new SchemaPairs());
    expect(changes.map(({ place, change }) => `${place} ${change}`)).to.deep.equal([
      '/size maximum has changed',
      '/at anyOf has changed',
    ]);
  });

  describe('against a running host', () => {
    const describeShop = (url: string, operation: object) =>
      describeModule('shop', url, [
        { method: 'POST', path: '/items', capability: 'shop.use', operation },
      ]);
    const describeCircle = (url: string, length: number) => {
      const operation = { input_schema: { $ref: 'manifest:schemas/d0' } };
      const route = { method: 'POST', path: '/', capability: 'circle.use', operation };
      const inline = { ...buildManifest('circle', [route]), schemas: ring(length) };
      return describeModule('circle', url, [], { manifest: { inline } });
    };
    const setup = useHost(({ url }) => ({
      'circle.json': describeCircle(url, 600),
      'shop.json': describeShop(url, { input_schema: ITEM, output_schema: ITEM }),
    }));

    it('are listed by modgate check', async () => {
      const place = createWorkplace();
      const operation = {
        input_schema: { ...ITEM, required: ['name', 'kind'] },
        output_schema: withItem({ size: {} }),
      };
      place.write('modules.d/shop.json', describeShop(setup.provider.url, operation));
      place.write('modules.d/circle.json', describeCircle(setup.provider.url, 600));
      const args = ['check', '--against', setup.host.url, '--token', 'dev-system:root'];
      const { stdout } = await place.run(args);
      expect(stdout).to.contain('~ POST /items: 2 schema changes');
      expect(stdout).to.contain('breaks callers: input /kind is now required');
      expect(stdout).to.contain('compatible: output /size is described now');
      const { against } = JSON.parse((await place.run([...args, '--json'])).stdout);
      expect(against.modules[0].routes.changed[0].schemas).to.deep.equal([
        { schema: 'input', place: '/kind', change: 'is now required', breaks: true },
        { schema: 'output', place: '/size', change: 'is described now', breaks: false },
      ]);
    });

    it('are unknown with exit code 1 for a module that cannot be compared', async () => {
      const place = createWorkplace();
      place.write('modules.d/circle.json', describeCircle(setup.provider.url, 601));
      place.write('modules.d/shop.json', describeShop(setup.provider.url, { input_schema: ITEM }));
      const args = ['check', '--against', setup.host.url, '--token', 'dev-system:root'];
      const { code, stdout, stderr } = await place.run(args);
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
      expect(stdout).to.contain('? circle unknown: its schemas lead to too many pairs to compare');
      expect(stdout).to.contain('breaks callers: output /name is no longer described');
    });
  });
});

describe('the changes of unchecked parameters', () => {
  it('break callers only if a parameter becomes required', async () => {
    const side = (...parameters: RouteParameter[]) => ({ operation: { parameters }, shared: {} });
    const [a, b] = [{ name: 'a', in: 'query' } as const, { name: 'b', in: 'header' } as const];
    const list = (before: RouteParameter[], after: RouteParameter[]) =>
      listSchemaChanges(side(...before), side(...after), new SchemaPairs());
    expect(await list([a, b], [b, a])).to.deep.equal([]);
    expect(await list([a], [{ ...a, required: true }, b])).to.deep.equal([
      { schema: 'parameters', place: '/query/a', change: 'has changed', breaks: true },
      { schema: 'parameters', place: '/header/b', change: 'is new', breaks: false },
    ]);
    expect(await list([{ ...a, required: true }], [])).to.deep.equal([
      { schema: 'parameters', place: '/query/a', change: 'is removed', breaks: false },
    ]);
  });
});
