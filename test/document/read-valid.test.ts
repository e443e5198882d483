import { expect } from 'chai';
import fc from 'fast-check';
import {
  any,
  array,
  boolean,
  coerce,
  define,
  dynamic,
  enums,
  literal,
  map,
  nullable,
  number,
  object,
  optional,
  record,
  refine,
  set,
  size,
  string,
  tuple,
  type,
  union,
} from 'superstruct';
import { canonicalizeValue } from '../../core/contract/canonical-value.js';
import {
  type AnyStruct,
  described,
  filledIn,
  optionally,
  withDefault,
} from '../../core/contract/described.js';
import { fileReference, secretReference } from '../../core/contract/index.js';
import { shareDefaults } from '../../core/document/read-valid.js';
import { listReferences } from '../../core/document/references.js';
import { validateStruct } from '../../core/document/validate.js';

const TEXT = described(string(), {});
const MEMBERS = {
  a: optional(string()),
  b: withDefault(number(), 1),
  c: filledIn(object({ a: withDefault(TEXT, 'text'), b: optional(array(TEXT)) })),
};

const STRUCTS: Readonly<Record<string, AnyStruct>> = {
  'a mapping with defaults': object(MEMBERS),
  'a mapping with other members': type(MEMBERS),
  'a mapping that requires a member': object({ a: any(), b: nullable(TEXT) }),
  'a mapping with a rule': refine(object(MEMBERS), 'a rule', ({ a }) => a !== 'a'),
  'an optional mapping': optionally(object(MEMBERS), {}),
  'a mapping of any members': object(),
  'a list': array(object(MEMBERS)),
  'a list of any items': array(),
  'a list with a rule': size(array(enums(['a', 'b'])), 0, 1),
  'a list with a default': object({ a: withDefault(array(string()), ['a']) }),
  'a record': record(size(string(), 1), union([number(), object(MEMBERS)])),
  'a tuple': tuple([TEXT, optional(number())]),
  'a union': union([string(), object(MEMBERS), array(object(MEMBERS))]),
  'a text that becomes a list': coerce(array(string()), string(), (text) => [text]),
  'a list that becomes a set': coerce(
    set(string()),
    array(),
    (items) => new Set(items as string[]),
  ),
  'a mapping that becomes a map': coerce(map(string(), any()), object(), (value) => {
    return new Map(Object.entries(value));
  }),
  'a member that depends on another': object({
    a: optional(boolean()),
    b: dynamic((_, { branch }) =>
      branch[0]?.a === true ? TEXT : (optional(literal(1)) as AnyStruct),
    ),
  }),
  'a member that depends on its path': array(
    object({ a: optional(define('first', (value, { path }) => path[0] === 0 || value === 1)) }),
  ),
};

const SCALAR = fc.constantFrom('a', 'b', '', 0, 1, true, null, undefined);
const FITTING = fc.record(
  {
    a: fc.constantFrom('a', 'b', true),
    b: fc.constantFrom(1, 'b'),
    c: fc.constantFrom({}, { a: 'b' }, { b: ['a'] }, { d: 1 }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const KEYS = fc.constantFrom('a', 'b', 'c', 'd');

/** Small, and shaped like the structs, so that many values are valid. */
const { value: VALUES } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    SCALAR,
    FITTING,
    fc.array(fc.constantFrom('a', 'b', undefined), { maxLength: 2 }),
    fc.array(FITTING, { maxLength: 2 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(KEYS, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

describe('the validation of valid values', () => {
  it('shares default mappings and lists, frozen, only in a struct that asks for it', () => {
    const members = {
      mapping: filledIn(object({ list: withDefault(array(TEXT), ['a']) })),
      set: withDefault(set(TEXT), new Set<string>()),
    };
    const read = (struct: AnyStruct, value: object = {}) => {
      return validateStruct(value, struct).value as Record<'mapping' | 'set', { list: unknown }>;
    };
    const own = object(members);
    expect(read(own).mapping).not.to.equal(read(own).mapping);
    const shared = shareDefaults(object(members));
    const { mapping } = read(shared);
    expect(read(shared, { mapping: undefined }).mapping).to.deep.equal(mapping);
    expect(read(shared).mapping).to.equal(mapping);
    expect(() => Object.assign(mapping, { list: [] })).to.throw(TypeError);
    expect(mapping.list).to.satisfy(Object.isFrozen);
    expect(canonicalizeValue([mapping])).to.equal('[{"list":["a"]}]');
    expect(read(shared).set).not.to.satisfy(Object.isFrozen);
    expect(read(shared, { mapping: { list: ['b'] } }).mapping.list).not.to.satisfy(Object.isFrozen);
    expect(read(own).mapping).not.to.satisfy(Object.isFrozen);
  });

  for (const [name, struct] of Object.entries(STRUCTS)) {
    it(`gives what superstruct gives for ${name}`, () => {
      const shared = shareDefaults(refine(struct, 'any value', () => true));
      fc.assert(
        fc.property(VALUES, (value) => {
          const before = structuredClone(value);
          const [error, expected] = struct.validate(value, { coerce: true });
          for (const tried of [struct, shared]) {
            const { value: actual, violations } = validateStruct(value, tried);
            expect(violations.length > 0).to.equal(error !== undefined);
            expect(value).to.deep.equal(before);
            if (error !== undefined) continue;
            expect(actual).to.deep.equal(expected);
            expect(JSON.stringify(actual)).to.equal(JSON.stringify(expected));
          }
        }),
        { numRuns: 500 },
      );
    });
  }

  it('rejects a member that would become the prototype', () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":"text"}}');
    const { violations } = validateStruct(value, object(MEMBERS));
    expect(violations.map(({ path }) => path)).to.deep.equal([['__proto__']]);
  });

  it('rejects a hole in a list', () => {
    const { violations } = validateStruct(new Array(1), array(string()));
    expect(violations).to.have.lengthOf(1);
  });

  it('gives each value defaults of its own', () => {
    const struct = object({ a: filledIn(object({ b: withDefault(array(string()), []) })) });
    const [first, second] = [validateStruct({}, struct), validateStruct({}, struct)];
    expect(first.value).to.deep.equal({ a: { b: [] } });
    expect(first.value)
      .to.have.property('a')
      .that.does.not.equal(Reflect.get(second.value as object, 'a'));
  });

  it('finds a reference that is a default each time', () => {
    const struct = object({ a: withDefault(secretReference(), 'env:A') });
    expect(validateStruct({}, struct).violations).to.deep.equal([]);
    for (let count = 0; count < 2; count += 1) {
      expect(listReferences(struct, {})).to.deep.equal([{ kind: 'secret', text: 'env:A' }]);
    }
  });

  it('finds the references of one config by each struct', () => {
    const config = { a: 'env:A' };
    const kinds = [secretReference(), string(), fileReference()].map((struct) =>
      listReferences(object({ a: struct }), config).map(({ kind }) => kind),
    );
    expect(kinds).to.deep.equal([['secret'], [], ['file']]);
  });
});
