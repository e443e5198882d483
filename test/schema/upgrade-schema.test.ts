import { expect } from 'chai';
import type { JsonSchema } from '../../core/contract/index.js';
import { SchemaRegistry } from '../../core/schema/compile-schema.js';
import { SchemaRules } from '../../core/schema/schema-rules.js';
import { upgradeSchema } from '../../core/schema/upgrade-schema.js';

const uri = (draft: string) =>
  draft.startsWith('draft')
    ? `http://json-schema.org/${draft}/schema#`
    : `https://json-schema.org/draft/${draft}/schema`;

/** A schema of a draft, values that it accepts, and values that it and the upgraded one reject. */
type Case = readonly [draft: string, schema: object, accepted: unknown[], rejected: unknown[]];

const EXACT: readonly Case[] = [
  ['draft-07', { type: 'object', required: ['a'] }, [{ a: 1 }], [{}, 1]],
  ['draft-07', { items: [{ type: 'number' }], additionalItems: false }, [[], [1]], [['a'], [1, 2]]],
  ['draft-07', { items: [{ type: 'number' }] }, [[1, 'x']], [['x']]],
  ['draft-07', { items: { type: 'number' }, additionalItems: false }, [[1, 2]], [['x']]],
  ['draft-07', { additionalItems: false }, [[1, 2]], []],
  ['draft-07', { items: [], additionalItems: { type: 'null' } }, [[null]], [[1]]],
  [
    'draft-07',
    { dependencies: { a: ['b'], c: { required: ['d'] } } },
    [{}, { a: 1, b: 1 }, { c: 1, d: 1 }],
    [{ a: 1 }, { c: 1 }],
  ],
  // Beside a reference nothing counts, and what is unknown to a draft constrains nothing.
  [
    'draft-07',
    { definitions: { n: { type: 'number' } }, $ref: '#/definitions/n', maximum: 3 },
    [5],
    ['x'],
  ],
  ['draft-07', { dependentRequired: { a: ['b'] }, prefixItems: [false] }, [{ a: 1 }, [1]], []],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ['draft-06', { if: true, then: false, const: 1 }, [1], [2]],
  ['draft-04', { const: 1, contains: false, propertyNames: false }, [2, [1], { a: 1 }], []],
  ['draft-04', { minimum: 1, exclusiveMinimum: true }, [1.5], [1, 0]],
  ['draft-04', { maximum: 1, exclusiveMaximum: false }, [1], [2]],
  ['draft-04', { id: 'http://x.test/s', maximum: 1 }, [1], [2]],
  [
    '2019-09',
    { properties: { next: { $recursiveRef: '#' } }, required: ['v'] },
    [{ v: 1, next: { v: 2 } }],
    [{ v: 1, next: {} }],
  ],
  ['2019-09', { $defs: { n: { type: 'number' } }, $ref: '#/$defs/n', maximum: 3 }, [3], [5, 'x']],
  ['2019-09', { unevaluatedProperties: false, properties: { a: {} } }, [{ a: 1 }], [{ b: 1 }]],
  // References to parts that have moved.
  ['draft-07', { items: [{ type: 'number' }, { $ref: '#/items/0' }] }, [[1, 2]], [['x'], [1, 'x']]],
  [
    'draft-07',
    {
      properties: { items: { type: 'number' }, b: { $ref: '#/properties/items' } },
      dependencies: { d: { maxProperties: 1 } },
      additionalProperties: { $ref: '#/dependencies/d' },
    },
    [{ b: 1, c: {} }],
    [{ b: 'x' }, { c: { x: 1, y: 2 } }],
  ],
];

/** What cannot be turned is left out, also where that would reject more. */
const WEAKENED: readonly Case[] = [
  ['draft-07', { properties: { a: { $ref: 'other.json' } }, required: ['a'] }, [{ a: 1 }], [{}]],
  ['draft-07', { not: { $ref: 'http://x.test/s' } }, [1, 'x'], []],
  [
    'draft-07',
    { definitions: { a: { $ref: 'o.json' } }, not: { $ref: '#/definitions/a' } },
    [1],
    [],
  ],
  ['draft-07', { oneOf: [{ $ref: 'o.json' }, { type: 'number' }] }, [1, 'x'], []],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ['draft-07', { if: { $ref: 'o.json' }, then: false, type: 'number' }, [1], ['x']],
  ['2019-09', { $anchor: 'a', properties: { b: { $ref: '#a' } } }, [{ b: 1 }], []],
  ['2019-09', { allOf: [{ $ref: 'o.json' }], unevaluatedProperties: false }, [{ b: 1 }], []],
  ['draft-04', { properties: { a: { $id: 'x', required: true } } }, [{}, { a: 1 }], []],
  ['draft-03', { type: ['string', { type: 'number' }], divisibleBy: 2 }, [1, 'x'], []],
];

describe('an upgraded schema of an older draft', () => {
  for (const [draft, schema, accepted, rejected] of [...EXACT, ...WEAKENED]) {
    it(`accepts what ${draft} accepts: ${JSON.stringify(schema)}`, () => {
      const upgraded = upgradeSchema({ $schema: uri(draft), ...schema }) as JsonSchema;
      expect(upgraded).to.not.have.property('$schema');
      expect(new SchemaRules({}).find(upgraded)).to.deep.equal([]);
      const compiled = new SchemaRegistry({}).compile(upgraded);
      for (const value of accepted) {
        expect(compiled.findViolations(value), JSON.stringify(value)).to.deep.equal([]);
      }
      for (const value of rejected) {
        expect(compiled.findViolations(value), JSON.stringify(value)).to.not.deep.equal([]);
      }
    });
  }

  it('is the same schema if it names 2020-12, no draft or an unknown one', () => {
    for (const $schema of [uri('2020-12'), undefined, 'http://x.test/meta', 7]) {
      const schema = { $schema, items: [{}] };
      expect(upgradeSchema(schema)).to.equal(schema);
    }
  });

  it('keeps names that objects have, and annotations', () => {
    const text = `{"$schema":"${uri('draft-07')}","title":"T","format":"email","properties":{"__proto__":{"type":"number"},"$ref":{"type":"string"}}}`;
    const upgraded = JSON.stringify(upgradeSchema(JSON.parse(text)));
    expect(upgraded).to.equal(
      '{"title":"T","format":"email","properties":{"__proto__":{"type":"number"},"$ref":{"type":"string"}}}',
    );
  });
});
