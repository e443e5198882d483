import { expect } from 'chai';
import { assert, jsonValue, property } from 'fast-check';
import type { JsonSchema } from '../../core/contract/index.js';
import { SchemaRegistry } from '../../core/schema/compile-schema.js';

const find = (schema: JsonSchema, value: unknown) =>
  new SchemaRegistry({}).compile(schema).findViolations(value);
const reasons = (schema: JsonSchema, value: unknown) =>
  Object.fromEntries(find(schema, value).map(({ pointer, reason }) => [pointer, reason]));

describe('compiled schema', () => {
  it('names the place and what was expected there', () => {
    const cases: readonly (readonly [JsonSchema, unknown, Record<string, string>])[] = [
      [false, 1, { '': 'unexpected' }],
      [{ type: ['integer', 'null'] }, 1.5, { '': 'expected integer or null' }],
      [{ enum: ['a', null] }, 'b', { '': 'expected one of "a", null' }],
      [{ const: { a: [1] } }, { a: [2] }, { '': 'expected {"a":[1]}' }],
      [
        { items: { minimum: 3 } },
        [3, 2, 1],
        { '/1': 'expected at least 3', '/2': 'expected at least 3' },
      ],
      [{ dependentRequired: { a: ['b'] } }, { a: 1 }, { '/b': 'missing' }],
      [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, { '/ab': 'expected another name' }],
      [{ minItems: 1 }, [], { '': 'expected at least 1 item' }],
    ];
    for (const [schema, value, expected] of cases) {
      expect(reasons(schema, value), JSON.stringify(schema)).to.deep.equal(expected);
    }
  });

  it('names the place within the alternative that was meant', () => {
    const nullable = { anyOf: [{ type: 'null' }, { type: 'object', required: ['a'] }] };
    expect(reasons(nullable, {})).to.deep.equal({ '/a': 'missing' });
    const shape = (kind: string) => ({
      properties: { kind: { const: kind }, size: { type: 'number' } },
    });
    const either = { oneOf: [shape('a'), shape('b')] };
    expect(reasons(either, { kind: 'c' })).to.deep.equal({
      '': 'expected one of the alternatives to match',
    });
    expect(reasons(either, {})).to.deep.equal({
      '': 'expected exactly one alternative to match, not 2',
    });
  });

  it('compares numbers as the decimals that were written', () => {
    expect(find({ multipleOf: 0.01 }, 19.99)).to.deep.equal([]);
    expect(find({ multipleOf: 0.01 }, 19.999)).to.have.length(1);
    expect(find({ multipleOf: 1e-7 }, 1e300)).to.deep.equal([]);
  });

  it('finds repeated items whatever they are', () => {
    const unique = { uniqueItems: true };
    for (const items of [
      [1, 1],
      ['#0', {}, {}],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[[]], [[]]],
    ]) {
      expect(find(unique, items), JSON.stringify(items)).to.have.length(1);
    }
    for (const items of [
      [1, '1', true, null, [1], ['1'], {}, []],
      ['#0', {}],
      [{ a: 1 }, { a: '1' }],
    ]) {
      expect(find(unique, items), JSON.stringify(items)).to.deep.equal([]);
    }
  });

  it('accepts each value as its own constant, and rejects any other', () => {
    assert(
      property(jsonValue(), jsonValue(), (first, second) => {
        const [a, b] = [JSON.parse(JSON.stringify(first)), JSON.parse(JSON.stringify(second))];
        expect(find({ const: a }, a)).to.deep.equal([]);
        expect(find({ uniqueItems: true }, [a, b]).length).to.equal(
          find({ const: a }, b).length === 0 ? 1 : 0,
        );
      }),
      { numRuns: 500, seed: 3 },
    );
  });

  it('visits each part of a value once, however a recursive schema leads there', () => {
    const schema = {
      properties: { a: { $ref: '#' } },
      patternProperties: { a: { $ref: '#' } },
      required: ['a'],
    };
    let value: unknown = 1;
    for (let level = 0; level < 60; level += 1) value = { a: value };
    expect(find(schema, value)).to.deep.equal([]);
  });

  it('stops when thousands of subschemas meet a large value', () => {
    const schema = { items: { allOf: Array.from({ length: 5000 }, () => ({ type: 'number' })) } };
    const [first, ...others] = find(
      schema,
      Array.from({ length: 50_000 }, () => 1),
    );
    expect(first).to.deep.equal({ pointer: '', reason: 'too large for its schema to check' });
    expect(others).to.deep.equal([]);
  });

  it('survives chains of references at each of a thousand levels', () => {
    const $defs: Record<string, JsonSchema> = { c0: { items: { $ref: '#/$defs/c90' } } };
    for (let index = 1; index <= 90; index += 1)
      $defs[`c${index}`] = { $ref: `#/$defs/c${index - 1}` };
    const value = JSON.parse('['.repeat(1000) + ']'.repeat(1000)) as unknown;
    const violations = find({ $defs, $ref: '#/$defs/c90' }, value);
    expect(violations.map(({ reason }) => reason)).to.satisfy(
      (reasons: string[]) => reasons.length === 0 || /too deeply/.test(reasons[0] ?? ''),
    );
  });
});
