import { expect } from 'chai';
import {
  any,
  array,
  boolean,
  define,
  dynamic,
  enums,
  integer,
  literal,
  max,
  min,
  nonempty,
  nullable,
  number,
  object,
  optional,
  pattern,
  record,
  refine,
  size,
  string,
  tuple,
  type,
  union,
} from 'superstruct';
import type { AnyStruct } from '../../core/contract/described.js';
import { matching } from '../../core/contract/described.js';
import { validateStruct } from '../../core/document/validate.js';
import { cpuMsSince } from '../support/cpu-time.js';
import { slowness } from '../support/slowness.js';

function messagesOf(value: unknown, struct: AnyStruct): string[] {
  return validateStruct(value, struct).violations.map(
    ({ message, hint }) => message + (hint === null ? '' : ` (${hint})`),
  );
}

const ENDPOINT = union([string(), object({ url: string(), weight: optional(integer()) })]);

const CASES: readonly [name: string, struct: AnyStruct, value: unknown, messages: string[]][] = [
  ['a string', object({ a: string() }), { a: 1 }, ["'a' must be a string (put it in quotes)"]],
  [
    'a name that is a number without quotes',
    object({ a: matching('a module name', /^[a-z0-9]+$/) }),
    { a: 12e7 },
    ["'a' must be a module name (put it in quotes)"],
  ],
  [
    'a number that is no name in quotes either',
    object({ a: matching('an address', /:/) }),
    { a: 1 },
    ["'a' must be an address"],
  ],
  [
    'an argument that is a number',
    object({ a: array(matching('an argument', /^[^\0]*$/)) }),
    { a: ['node', 1] },
    ["'a[1]' must be an argument (put it in quotes)"],
  ],
  [
    'a variable that is a number or a boolean',
    object({ a: record(string(), union([string(), object({ secret: string() })])) }),
    { a: { PORT: 8080, DEBUG: true } },
    ['PORT', 'DEBUG'].map((name) => `'a.${name}' must be a string or a mapping (put it in quotes)`),
  ],
  [
    'a number outside of its bounds beside a text',
    object({ a: union([string(), min(number(), 1)]) }),
    { a: [0] },
    ["'a' must be a string or a number"],
  ],
  ['a number', object({ a: number() }), { a: '1' }, ["'a' must be a number (remove the quotes)"]],
  ['a whole number', object({ a: integer() }), { a: 1.5 }, ["'a' must be a whole number"]],
  [
    'a boolean',
    object({ a: boolean() }),
    { a: 'no' },
    ["'a' must be true or false (write false, without quotes)"],
  ],
  ['a list', object({ a: array(string()) }), { a: { b: 1 } }, ["'a' must be a list"]],
  ['a mapping', object({ a: object({ b: string() }) }), { a: [1] }, ["'a' must be a mapping"]],
  ['a record', object({ a: record(string(), string()) }), { a: [1] }, ["'a' must be a mapping"]],
  [
    'a member of a record',
    object({ a: record(string(), string()) }),
    { a: { b: 1 } },
    ["'a.b' must be a string (put it in quotes)"],
  ],
  ['a tuple', tuple([string(), number()]), ['a'], ["'[1]' must be a number"]],
  ['an open mapping', type({ a: string() }), { b: 1 }, ["missing key 'a'"]],
  [
    'null',
    object({ a: string() }),
    { a: null },
    ["'a' must be a string (remove the key or give it a value)"],
  ],
  [
    'a nullable',
    object({ a: nullable(string()) }),
    { a: 1 },
    ["'a' must be a string (put it in quotes)"],
  ],
  ['a word', object({ a: enums(['one', 'two']) }), { a: 'tow' }, ["'a' must be one of one, two"]],
  [
    'a similar word',
    object({ a: enums(['problem', 'other']) }),
    { a: 'Problems' },
    ["'a' must be one of problem, other (did you mean 'problem'?)"],
  ],
  ['a constant', object({ a: literal('v1') }), { a: 'v2' }, ["'a' must be 'v1'"]],
  [
    'a bound',
    object({ a: min(number(), 1) }),
    { a: 0 },
    ["'a' must be a number greater than or equal to 1"],
  ],
  [
    'the other bound',
    object({ a: max(integer(), 9) }),
    { a: 10 },
    ["'a' must be a whole number less than or equal to 9"],
  ],
  [
    'a length',
    object({ a: size(array(any()), 1, 2) }),
    { a: [] },
    ["'a' must be a list with a length between 1 and 2"],
  ],
  [
    'a pattern',
    object({ a: pattern(string(), /^x/) }),
    { a: 'secret' },
    ["'a' must be a string matching /^x/"],
  ],
  [
    'emptiness',
    object({ a: nonempty(string()) }),
    { a: '' },
    ["'a' must be a string that is not empty"],
  ],
  [
    'a struct by its name',
    object({ a: define('secret reference', () => false) }),
    { a: 1 },
    ["'a' must be a secret reference"],
  ],
  [
    'a refinement by its name',
    object({ a: refine(string(), 'even string', () => 'got secret') }),
    { a: 'secret' },
    ["'a' must be an even string"],
  ],
  ['a missing key', object({ a: object({ b: string() }) }), { a: {} }, ["missing key 'b' in 'a'"]],
  [
    'an unknown key',
    object({ retry: optional(any()) }),
    { retires: 1 },
    ["unknown key 'retires' (did you mean 'retry'?)"],
  ],
  [
    'a union',
    object({ a: ENDPOINT }),
    { a: true },
    ["'a' must be a string or a mapping (put it in quotes)"],
  ],
  [
    'a branch of a union',
    object({ a: ENDPOINT }),
    { a: { url: 1, wieght: 2 } },
    ["'a.url' must be a string (put it in quotes)", "unknown key 'wieght' in 'a'"],
  ],
  ['a list in a union', object({ a: ENDPOINT }), { a: [1] }, ["'a' must be a string or a mapping"]],
  [
    'the struct that a dynamic struct selects',
    object({ a: dynamic((value): AnyStruct => (value === 1 ? enums([2, 3]) : string())) }),
    { a: 1 },
    ["'a' must be one of 2, 3"],
  ],
  [
    'several violations',
    object({ a: string(), b: number() }),
    { a: 1, b: 'x', c: 1 },
    [
      "'a' must be a string (put it in quotes)",
      "'b' must be a number",
      "unknown key 'c' (known here: a, b)",
    ],
  ],
  ['the root', object({}), 'x', ['the document must be a mapping']],
];

describe('validateStruct', () => {
  for (const [name, struct, value, messages] of CASES) {
    it(`explains a violation: ${name}`, () => {
      expect(messagesOf(value, struct)).to.deep.equal(messages);
    });
  }

  it('prints only keys that are plain words', () => {
    expect(messagesOf({ 's3cret value!': 1 }, object({}))).to.deep.equal(['unknown key']);
    expect(
      messagesOf({ a: { 'x y': 1 } }, object({ a: record(string(), string()) })),
    ).to.deep.equal(["'a.?' must be a string (put it in quotes)"]);
  });

  it('prints the keywords of JSON Schema that start with a dollar sign', () => {
    const struct = object({ $defs: object({ $ref: string() }) });
    expect(messagesOf({ $defs: { $ref: 1, $2b$12$: 1 } }, struct)).to.deep.equal([
      "'$defs.$ref' must be a string (put it in quotes)",
      "unknown key in '$defs'",
    ]);
  });

  it('puts the prefix in front of every path', () => {
    const { violations } = validateStruct({ b: 1 }, object({ a: string() }), [
      'provider',
      'config',
    ]);
    expect(violations.map(({ message, path, at }) => ({ message, path, at }))).to.deep.equal([
      { message: "missing key 'a' in 'provider.config'", path: ['provider', 'config'], at: 'key' },
      {
        message: "unknown key 'b' in 'provider.config'",
        path: ['provider', 'config', 'b'],
        at: 'key',
      },
    ]);
  });

  it('reports at most 100 violations', () => {
    const value = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    expect(messagesOf(value, object({}))).to.have.length(100);
  });

  it('visits a mapping equally often for one unknown key and for a hundred', () => {
    const countWalks = (unknown: number) => {
      let walks = 0;
      const target = Object.fromEntries(Array.from({ length: unknown }, (_, n) => [`k${n}`, 1]));
      const value = new Proxy(target, {
        ownKeys: (it) => {
          walks += 1;
          return Reflect.ownKeys(it);
        },
      });
      expect(validateStruct(value, object({ a: optional(string()) })).violations).to.have.length(
        unknown,
      );
      return walks;
    };
    expect(countWalks(100)).to.equal(countWalks(1));
  });

  it('stops at 100 violations of the largest mapping that a text can have', () => {
    const value = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i]));
    const startedAt = process.cpuUsage();
    expect(messagesOf(value, object({ a: string() }))).to.have.length(100);
    expect(cpuMsSince(startedAt)).to.be.lessThan(500 * slowness());
  });

  describe('for a partly valid value', () => {
    const route = object({ path: string(), summary: optional(string()) });
    const struct = object({ routes: array(route), name: string(), note: optional(string()) });
    const cases: readonly [name: string, value: unknown, accepted: unknown][] = [
      [
        'without a rejected optional member',
        { name: 'a', routes: [], note: 1 },
        { name: 'a', routes: [] },
      ],
      ['without an unknown key', { name: 'a', routes: [], x: 1 }, { name: 'a', routes: [] }],
      ['without a rejected member of the root', { name: 1, routes: [] }, { routes: [] }],
      [
        'without a rejected member of an item',
        { name: 'a', routes: [{ path: 'p', summary: 1 }] },
        { name: 'a', routes: [{ path: 'p' }] },
      ],
      ['of a value of the wrong type: nothing', 'x', null],
    ];
    for (const [name, value, accepted] of cases) {
      it(`returns what the struct accepts: ${name}`, () => {
        expect(validateStruct(value, struct).accepted).to.deep.equal(accepted);
      });
    }

    it('returns nothing that was not visited before the limit', () => {
      const routes = Array.from({ length: 120 }, () => ({ path: 1 }));
      const value = { name: 'a', routes, note: 'n' };
      const last = object({ name: string(), routes: array(route), note: optional(string()) });
      expect(validateStruct(value, last).accepted).to.deep.equal({ name: 'a' });
    });

    it('returns nothing that was not visited before the limit', () => {
      const routes = Array.from({ length: 120 }, () => ({ path: 1 }));
      const value = { name: 'a', routes, note: 'n' };
      const last = object({ name: string(), routes: array(route), note: optional(string()) });
      expect(validateStruct(value, last).accepted).to.deep.equal({ name: 'a' });
    });

    it('returns a list with a hole for each rejected item', () => {
      const value = { name: 'a', routes: [{ path: 1 }, { path: 'p' }] };
      const { routes } = validateStruct(value, struct).accepted as { routes: unknown[] };
      expect(routes).to.have.length(2);
      expect(routes.flatMap((item, index) => [[index, item]])).to.deep.equal([[1, { path: 'p' }]]);
    });
  });
});
