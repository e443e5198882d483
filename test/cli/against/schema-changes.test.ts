import { expect } from 'chai';
import type { JsonSchema } from '../../../core/contract/index.js';
import { listSchemaChanges } from '../../../core/modules/against/compare-schemas.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { describeModule } from '../../support/http/modules.js';
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
];

/** The changed places, each once; the value as a whole is a point. */
function show(key: 'input_schema' | 'output_schema', before: unknown, after: unknown): string {
  const describe = (schema: unknown) => ({ operation: { [key]: schema }, shared: {} });
  const changes = listSchemaChanges(describe(before), describe(after));
  const places = changes.map(({ place, breaks }) => `${breaks ? '!' : ''}${place || '.'}`);
  return [...new Set(places)].join(' ');
}

describe('changes of schemas', () => {
  for (const [name, before, after, input, output] of CHANGES) {
    it(`explain the effect of ${name} on callers`, () => {
      expect(show('input_schema', before, after), 'input').to.equal(input);
      expect(show('output_schema', before, after), 'output').to.equal(output);
    });
  }

  it('lead through shared schemas, also out of branches that are written alike', () => {
    const operation = {
      input_schema: { $ref: 'manifest:schemas/Item' },
      query_schema: { properties: { at: { anyOf: [{ $ref: 'manifest:schemas/Size' }] } } },
    };
    const describe = (size: JsonSchema) => ({
      operation: structuredClone(operation),
      shared: { Item: { properties: { size: { $ref: 'manifest:schemas/Size' } } }, Size: size },
    });
    const changes = listSchemaChanges(describe({ maximum: 9 }), describe({ maximum: 8 }));
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
    const setup = useHost(({ url }) => ({
      'shop.json': describeShop(url, { input_schema: ITEM, output_schema: ITEM }),
    }));

    it('are listed by modgate check', async () => {
      const place = createWorkplace();
      const operation = {
        input_schema: { ...ITEM, required: ['name', 'kind'] },
        output_schema: withItem({ size: {} }),
      };
      place.write('modules.d/shop.json', describeShop(setup.provider.url, operation));
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
      place.remove();
    });
  });
});
