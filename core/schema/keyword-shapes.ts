import { formOfHeld, isSchemaObject } from './subschema-keywords.js';

/** The problem of a keyword's value; the message continues its name. */
interface ShapeProblem {
  readonly message: string;
  readonly hint: string | null;
}

interface Shape {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  readonly hint?: string;
}

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

const COUNT: Shape = {
  expected: 'a whole number, at least 0',
  accepts: (value) => Number.isInteger(value) && (value as number) >= 0,
};
const NUMBER: Shape = {
  expected: 'a number',
  accepts: Number.isFinite,
  hint: 'exclusiveMinimum and exclusiveMaximum are numbers since draft 6',
};
const TEXT: Shape = { expected: 'a string', accepts: (value) => typeof value === 'string' };
const NAMES: Shape = {
  expected: 'a list of different names',
  accepts: isNameList,
  hint: 'required is a list of names beside properties',
};

const SHAPES: Readonly<Record<string, Shape>> = {
  type: {
    expected: `one of ${TYPES.join(', ')}, or a list of them`,
    accepts: (value) =>
      Array.isArray(value)
        ? value.length > 0 && isNameList(value) && value.every((name) => TYPES.includes(name))
        : TYPES.includes(value as string),
  },
  enum: { expected: 'a list', accepts: Array.isArray },
  multipleOf: {
    expected: 'a number above 0',
    accepts: (value) => Number.isFinite(value) && (value as number) > 0,
  },
  maximum: NUMBER,
  exclusiveMaximum: NUMBER,
  minimum: NUMBER,
  exclusiveMinimum: NUMBER,
  maxLength: COUNT,
  minLength: COUNT,
  pattern: TEXT,
  maxItems: COUNT,
  minItems: COUNT,
  uniqueItems: { expected: 'true or false', accepts: (value) => typeof value === 'boolean' },
  maxContains: COUNT,
  minContains: COUNT,
  maxProperties: COUNT,
  minProperties: COUNT,
  required: NAMES,
  dependentRequired: {
    expected: 'a mapping to lists of different names',
    accepts: (value) => isSchemaObject(value) && Object.values(value).every(isNameList),
  },
  $ref: TEXT,
  $comment: TEXT,
};

const HELD: Readonly<Record<'one' | 'list' | 'map', Shape>> = {
  one: {
    expected: 'a schema: a mapping, true or false',
    accepts: isSchema,
    hint: 'a list of schemas, one for each item, is prefixItems',
  },
  list: {
    expected: 'a list of at least one schema',
    accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  },
  map: {
    expected: 'a mapping to schemas',
    accepts: (value) => isSchemaObject(value) && Object.values(value).every(isSchema),
  },
};

/** Returns `null` for a valid keyword, and for an unknown one, which JSON Schema allows. */
export function findShapeProblem(keyword: string, value: unknown): ShapeProblem | null {
  const shape = findShape(keyword);
  if (shape === null || shape.accepts(value)) return null;
  return { message: `must be ${shape.expected}`, hint: shape.hint ?? null };
}

function findShape(keyword: string): Shape | null {
  if (Object.hasOwn(SHAPES, keyword)) return SHAPES[keyword] ?? null;
  const form = formOfHeld(keyword);
  return form === null ? null : HELD[form];
}

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isSchemaObject(value);
}

function isNameList(value: unknown): boolean {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return false;
  return new Set(value).size === value.length;
}
