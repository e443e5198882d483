import type { JsonSchema } from '../../../core/contract/index.js';

/** A schema, and a body that takes long to be checked by it. */
export interface CostlySchema {
  readonly name: string;
  readonly schema: JsonSchema;
  /** JSON. */
  createBody(bytes: number): string;
}

/** An array of one value. */
const repeat = (item: string, bytes: number) => {
  const count = Math.floor((bytes - 2) / (item.length + 1));
  return `[${Array.from({ length: count }, () => item).join(',')}]`;
};

/** An object of many members. */
const members = (bytes: number, value = '1') => {
  const list: string[] = [];
  let size = 2;
  for (let index = 0; ; index += 1) {
    const member = `"m${index}":${value}`;
    size += member.length + 1;
    if (size > bytes) return `{${list.join(',')}}`;
    list.push(member);
  }
};

const list = <T>(length: number, create: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => create(index));
const record = (length: number, value: unknown) =>
  Object.fromEntries(list(length, (index) => [`k${index}`, value]));

export const COSTLY_SCHEMAS: readonly CostlySchema[] = [
  {
    name: 'multiples of a decimal',
    schema: { items: { multipleOf: 0.01 } },
    createBody: (bytes) => repeat('0.37', bytes),
  },
  {
    name: 'multiples beyond what a number holds exactly',
    schema: { items: { multipleOf: 0.01 } },
    createBody: (bytes) => repeat('1e300', bytes),
  },
  {
    name: 'members that 30 alternatives evaluate',
    schema: {
      anyOf: list(30, () => ({ additionalProperties: { type: 'number' } })),
      unevaluatedProperties: false,
    },
    createBody: members,
  },
  {
    name: 'members that 2,000 alternatives accept',
    schema: {
      anyOf: list(2000, () => ({ additionalProperties: true })),
      unevaluatedProperties: false,
    },
    createBody: members,
  },
  {
    name: '200 dependent schemas',
    schema: { items: { dependentSchemas: record(200, { type: 'object' }) } },
    createBody: (bytes) => repeat('{}', bytes),
  },
  {
    name: 'lists of required members',
    schema: { items: { dependentRequired: record(5000, []) } },
    createBody: (bytes) => repeat('{"k1":1}', bytes),
  },
  {
    name: 'subschemas without end',
    schema: { items: { allOf: list(500, () => ({ type: 'number' })) } },
    createBody: (bytes) => repeat('1', bytes),
  },
  {
    name: 'counts of members',
    schema: { allOf: list(2000, () => ({ minProperties: 1 })) },
    createBody: members,
  },
  {
    name: 'a pattern with many repetitions',
    schema: { items: { pattern: '(?:a{0,30}b?){0,30}c' } },
    createBody: (bytes) => repeat(`"${'ab'.repeat(500)}"`, bytes),
  },
  {
    name: 'values that are nearly equal',
    schema: { items: { enum: list(500, (index) => [...list(20, () => 1), index + 2]) } },
    createBody: (bytes) => repeat(`[${'1,'.repeat(20)}1]`, bytes),
  },
  {
    name: 'items that are compared',
    schema: { uniqueItems: true },
    createBody: (bytes) => `[${list(Math.floor(bytes / 12), (index) => `[${1e6 + index}]`)}]`,
  },
  {
    name: 'a large value alone',
    schema: { type: 'object' },
    createBody: (bytes) => members(bytes, '[]'),
  },
];
