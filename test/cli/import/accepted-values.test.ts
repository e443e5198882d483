import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import {
  type Arbitrary,
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  dictionary,
  letrec,
  oneof,
  property,
  record,
  tuple,
  uniqueArray,
} from 'fast-check';
import { SchemaRegistry } from '../../../core/schema/compile-schema.js';
import { convert, jsonBody, jsonResponse, OK } from '../../support/cli/convert-operation.js';

const REMOTE = { $id: 'https://other.example/remote.json', type: 'object', required: ['a'] };

/** Parts that the import leaves out: each accepts fewer values than the schema without it. */
const LEFT_OUT: readonly object[] = [
  { $ref: REMOTE.$id },
  { $ref: REMOTE.$id, properties: { b: true } },
  { pattern: '^(?!a)' },
  { pattern: '/^a$/' },
  { type: 'string', enum: ['a', 1] },
  { const: 1, type: 'string' },
  { patternProperties: { '^(?=a)': true, b: { type: 'string' } } },
  { patternProperties: { '^(?=a)': true }, additionalProperties: false },
  { required: ['a'], properties: { a: { readOnly: true } } },
  { properties: JSON.parse('{"__proto__": true, "a": true}'), additionalProperties: false },
];

const { schema } = letrec<{ schema: object }>((tie) => {
  const inner = oneof({ maxDepth: 2 }, constantFrom(...LEFT_OUT), tie('schema'));
  const list = array(inner, { minLength: 1, maxLength: 3 });
  const named = dictionary(constantFrom('a', 'b'), inner, { minKeys: 1 });
  const keywords: readonly Arbitrary<object>[] = [
    constantFrom(...LEFT_OUT),
    constantFrom(
      ...[{ type: 'string' }, { type: ['object', 'array'] }, { enum: ['a', 1, null] }],
      ...[{ maxLength: 1 }, { required: ['b'] }, { maxProperties: 1 }, { minItems: 2 }],
      ...[{ $ref: '#/components/schemas/S0' }, { $ref: '#/components/schemas/S1' }],
    ),
    record({ properties: named, additionalProperties: boolean() }),
    record({ allOf: list, unevaluatedProperties: constant(false) }),
    record({ prefixItems: list, items: boolean() }),
    record({ contains: inner, maxContains: constantFrom(1, 2), minContains: constantFrom(0, 1) }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    record({ if: inner, then: inner, else: inner }),
    record({ dependentSchemas: named }),
    record({ propertyNames: inner }),
    record({ not: inner }),
    // Beside `contains`, Ajv evaluates items wrongly.
    record({ allOf: tuple(record({ prefixItems: list })), unevaluatedItems: constant(false) }),
    record({ oneOf: list }),
    record({ anyOf: list }),
  ];
  return { schema: oneof({ maxDepth: 3, withCrossShrink: true }, ...keywords) };
});

const { value } = letrec<{ value: unknown }>((tie) => ({
  value: oneof(
    { maxDepth: 2 },
    constantFrom('a', 'b', 'ab', '', 1, -1, null, true),
    dictionary(constantFrom('a', 'b', 'ab', 'c'), tie('value'), { maxKeys: 3 }),
    array(tie('value'), { maxLength: 3 }),
  ),
}));

/** Whether the imported schema accepts a value that the schema of the document accepts. */
function findRejected(schemas: object, values: readonly unknown[], isInput: boolean): unknown[] {
  const root = { $ref: '#/components/schemas/S0' };
  const ajv = new Ajv2020({ strict: false, validateSchema: false, meta: false, logger: false });
  const accepts = ajv.addSchema(REMOTE).compile({ ...root, components: { schemas } });
  const operation = isInput ? { ...jsonBody(root), responses: OK } : jsonResponse(root);
  const parts = { paths: { '/a': { post: operation } }, components: { schemas } };
  const { manifest } = convert(parts, '3.1.0');
  const { input_schema, output_schema } = manifest.http_routes[0]?.operation ?? {};
  const imported = (isInput ? input_schema : output_schema) ?? true;
  const compiled = new SchemaRegistry(manifest.schemas ?? {}).compile(imported);
  return values.filter((one) => accepts(one) && compiled.findViolations(one).length > 0);
}

describe('an imported schema', () => {
  it('accepts what the schema of the document accepts, whatever is left out', () => {
    const values = uniqueArray(value, { minLength: 20, maxLength: 30 });
    const rule = property(schema, schema, values, boolean(), (first, second, all, isInput) => {
      let rejected: readonly unknown[] = [];
      try {
        rejected = findRejected({ S0: first, S1: second }, all, isInput);
      } catch (error) {
        // The references of the document may form a cycle.
        if (!(error instanceof RangeError)) throw error;
      }
      expect(rejected).to.deep.equal([]);
    });
    assert(rule, { numRuns: 100 });
  });
});
