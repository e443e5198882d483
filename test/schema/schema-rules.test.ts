import { expect } from 'chai';
import type { JsonSchema } from '../../core/contract/index.js';
import { InvalidFile } from '../../core/document/diagnostic.js';
import { parseManifest } from '../../core/manifest/parse-manifest.js';
import { SchemaRules } from '../../core/schema/schema-rules.js';

type Place = 'input_schema' | 'output_schema' | 'query_schema';

/** `rule place` of each error of a manifest with this schema. */
function findErrors(schema: JsonSchema, key: Place = 'input_schema'): string[] {
  const operation = { [key]: schema };
  const manifest = {
    protocol: 'modgate.manifest.v1',
    module_id: 'shop',
    capabilities: ['shop.use'],
    http_routes: [{ method: 'POST', path: '/items', capability: 'shop.use', operation }],
  };
  try {
    parseManifest(manifest, { file: 'shop.json', locate: () => null });
    return [];
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return error.diagnostics.map(({ rule, path }) => `${rule} ${path.slice(3).join('/')}`);
  }
}

/** A schema with subschemas within one another. */
function nest(levels: number): JsonSchema {
  return levels === 1 ? {} : { items: nest(levels - 1) };
}

function properties(count: number): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}]));
}

const VALID: Readonly<Record<string, JsonSchema>> = {
  'a boolean schema': false,
  'unknown keywords': { 'x-internal': true, example: 1, nullable: true, discriminator: {} },
  'a format as an annotation': { format: 'no-such-format' },
  'the dialect and an identifier at the root': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://shop.example/item',
  },
  'a reference into an unknown keyword': { definitions: { a: {} }, $ref: '#/definitions/a' },
  'a reference with escapes': { $defs: { 'a/b~c"d': {} }, $ref: '#/$defs/a~1b~0c%22d' },
  'a tree': { properties: { left: { $ref: '#' }, right: { $ref: '#' } } },
  'a list in one branch': { oneOf: [{ type: 'null' }, { properties: { next: { $ref: '#' } } }] },
  'two branches with a recursion that does not lead back to them': {
    $defs: { list: { properties: { next: { $ref: '#/$defs/list' } } } },
    anyOf: [{ $ref: '#/$defs/list' }, { items: { $ref: '#/$defs/list' } }],
  },
  '32 levels': nest(32),
  '10,000 subschemas': {
    properties: properties(2498),
    $ref: '#/$defs/a',
    $defs: defineTwice(2498),
  },
};

/** `a` refers twice to a schema with this number of subschemas below it. */
function defineTwice(count: number): Record<string, JsonSchema> {
  return { b: { properties: properties(count) }, a: { $ref: '#/$defs/b' } };
}

const INVALID: Readonly<Record<string, readonly [schema: JsonSchema, ...errors: string[]]>> = {
  'more than 64 KiB': [{ description: 'x'.repeat(65_520) }, 'schema-too-large input_schema'],
  '33 levels': [nest(33), 'schema-too-deep input_schema'],
  'more than 10,000 subschemas': [
    { $defs: { b: { properties: properties(2500) } }, allOf: Array(4).fill({ $ref: '#/$defs/b' }) },
    'too-many-subschemas input_schema',
  ],
  'a reference to another document': [
    { items: { $ref: 'https://shop.example/item' } },
    'remote-reference input_schema/items/$ref',
  ],
  'a reference to an anchor': [{ $ref: '#item' }, 'unsupported-keyword input_schema/$ref'],
  'a reference that leads nowhere': [
    { $ref: '#/$defs/missing' },
    'unresolved-reference input_schema/$ref',
  ],
  'an anchor': [{ $anchor: 'item' }, 'unsupported-keyword input_schema/$anchor'],
  'a dynamic reference': [{ $dynamicRef: '#item' }, 'unsupported-keyword input_schema/$dynamicRef'],
  'an identifier below the root': [
    { items: { $id: 'item' } },
    'unsupported-keyword input_schema/items/$id',
  ],
  'another dialect': [
    { $schema: 'https://example.test/dialect' },
    'unsupported-keyword input_schema/$schema',
  ],
  'a circle at the same value': [
    { $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
    'circular-reference input_schema/$defs/a/allOf/0/$ref',
    'circular-reference input_schema/$defs/b/$ref',
  ],
  'a reference to itself': [{ $ref: '#' }, 'circular-reference input_schema/$ref'],
  'a recursion in two branches': [
    { anyOf: [{ properties: { a: { $ref: '#' } } }, { items: { $ref: '#' } }] },
    'branching-recursion input_schema/anyOf',
  ],
  'a recursion in if and else': [
    { if: { items: { $ref: '#' } }, else: { items: { $ref: '#' } } },
    'branching-recursion input_schema/if',
  ],
  'a lookahead': [{ pattern: '^(?=a)' }, 'untranslatable-pattern input_schema/pattern'],
  'a backreference in the name of a property': [
    { patternProperties: { '(a)\\1': {} } },
    'untranslatable-pattern input_schema/patternProperties/(a)\\1',
  ],
  'a repetition that RE2 does not allow': [
    { pattern: 'a{1001}' },
    'untranslatable-pattern input_schema/pattern',
  ],
  'patterns that are too large together': [
    { allOf: Array.from({ length: 11 }, (_, index) => ({ pattern: `^.{1,${990 + index}}$` })) },
    'untranslatable-pattern input_schema',
  ],
  'an unknown type': [{ type: 'strin' }, 'invalid-schema input_schema/type'],
  'required of an older draft': [
    { properties: { a: { required: true } } },
    'invalid-schema input_schema/properties/a/required',
  ],
  'a list of items of an older draft': [{ items: [{}] }, 'invalid-schema input_schema/items'],
};

describe('schemas of a manifest', () => {
  for (const [name, schema] of Object.entries(VALID)) {
    it(`may have ${name}`, () => expect(findErrors(schema)).to.deep.equal([]));
  }

  for (const [name, [schema, ...errors]] of Object.entries(INVALID)) {
    it(`may not have ${name}`, () => expect(findErrors(schema)).to.have.members(errors));
  }

  it('may describe responses and queries by the same rules', () => {
    const schema = { properties: { a: { $ref: '#/$defs/a' } } };
    for (const key of ['output_schema', 'query_schema'] as const) {
      const place = `${key}/properties/a/$ref`;
      expect(findErrors(schema, key)).to.deep.equal([`unresolved-reference ${place}`]);
    }
  });

  it('name the size of patterns that are too large together, and the bound', () => {
    const allOf = Array.from({ length: 11 }, (_, index) => ({ pattern: `^.{1,${990 + index}}$` }));
    const [problem] = new SchemaRules({}).find({ allOf });
    expect(problem?.message).to.match(
      /^has patterns of \d{5} RE2 instructions together: at most 20000$/,
    );
  });

  it('describe a query as an object', () => {
    expect(findErrors({ type: 'object' }, 'query_schema')).to.deep.equal([]);
    const errors = findErrors({ type: 'array' }, 'query_schema');
    expect(errors).to.deep.equal(['invalid-schema query_schema/type']);
  });

  it('are checked in linear time when references form long chains', () => {
    const $defs: Record<string, object> = { d0: {} };
    for (let index = 1; index < 1500; index += 1) {
      $defs[`d${index}`] = { $ref: `#/$defs/d${index - 1}` };
    }
    expect(findErrors({ $defs })).to.deep.equal(['too-many-subschemas input_schema']);
  });
});
