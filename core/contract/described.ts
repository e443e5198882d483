import { coerce, defaulted, define, optional, Struct, string } from 'superstruct';

/** A struct of any type; superstruct's own signatures use `any` for its schema. */
// biome-ignore lint/suspicious/noExplicitAny: structs of any type and schema are treated alike
export type AnyStruct = Struct<any, any>;

/** Keywords of JSON Schema; a struct among their values is replaced by its schema. */
export type Keywords = Readonly<Record<string, unknown>>;

/** A schema that others refer to by its name, as `#/$defs/<name>`. */
export interface Definition {
  /** The name, which is unique among all kinds of providers. */
  readonly name: string;
  /** The struct whose schema it is. */
  readonly struct: AnyStruct;
}

/** What {@link described} and its like have added to a struct. */
export interface Description {
  /** The keywords of JSON Schema. */
  readonly keywords: Keywords;
  /** The definition that the schema refers to; `null` for a schema that stands for itself. */
  readonly definition: Definition | null;
}

/** Registered, because a plugin may have its own copy of this file. */
const DESCRIPTION = Symbol.for('modgate.description');

/**
 * Adds the description, default and other keywords of a struct for JSON Schema. They validate nothing. The schemas and
 * reference pages of the kinds that modgate ships are written from them, and {@link readDescription} reads those of any
 * struct.
 */
export function described<T, S>(struct: Struct<T, S>, keywords: Keywords): Struct<T, S> {
  const before = readDescription(struct);
  return attach(struct, { ...before, keywords: { ...before.keywords, ...keywords } });
}

/**
 * A text with a pattern, which is also that of its JSON Schema.
 * @param expected completes `must be …` in messages
 * @param keywords others of its JSON Schema
 */
export function matching(
  expected: string,
  pattern: RegExp,
  keywords: Keywords = {},
): Struct<string, null> {
  return described(
    define<string>(expected, (value) => typeof value === 'string' && pattern.test(value)),
    { type: 'string', pattern: pattern.source, ...keywords },
  );
}

/** An optional member; superstruct's `optional` would lose the keywords of the struct. */
export function optionally<T, S>(
  struct: Struct<T, S>,
  keywords: Keywords,
): Struct<T | undefined, S> {
  const before = readDescription(struct);
  const keys = { ...before.keywords, ...keywords };
  return attach(optional(struct), { ...before, keywords: keys });
}

/** An optional member with a default, which the result of a validation with coercion has. */
export function withDefault<T, S>(
  struct: Struct<T, S>,
  fallback: NoInfer<T>,
  keywords: Keywords = {},
): Struct<T, S> {
  const before = readDescription(struct);
  const keys = { ...before.keywords, default: fallback, ...keywords };
  return attach(defaulted(struct, fallback, { strict: true }), { ...before, keywords: keys });
}

/** An optional mapping, whose members have their own defaults if it is absent. */
export function filledIn<T, S>(struct: Struct<T, S>): Struct<T, S> {
  return attach(defaulted(struct, {}, { strict: true }), readDescription(struct));
}

/** Converts an accepted text before other code reads it. */
export function converted<S>(
  struct: Struct<string, S>,
  convert: (text: string) => string,
): Struct<string, S> {
  return attach(coerce(struct, string(), convert), readDescription(struct));
}

/** Whether a member of this struct may be omitted. */
export function mayBeAbsent(struct: AnyStruct): boolean {
  const [error] = struct.validate(undefined, { coerce: true });
  return error === undefined;
}

/** Adds the schema of a struct to the definitions, so that it is written once. */
export function named<T, S>(name: string, struct: Struct<T, S>): Struct<T, S> {
  return attach(struct, { keywords: {}, definition: { name, struct: struct as AnyStruct } });
}

/** The keywords `if`, `then` and `else`, in which structs stand for their schemas. */
export function when(condition: Keywords, then: unknown, otherwise?: unknown): Keywords {
  return { if: condition, then, ...(otherwise !== undefined && { else: otherwise }) };
}

/** The description of a struct; one without keywords if it has none. */
export function readDescription(struct: object): Description {
  const { [DESCRIPTION]: description } = struct as { [DESCRIPTION]?: Description };
  return description ?? { keywords: {}, definition: null };
}

/** Not `new Struct`: it would run each check of the struct through two more generators. */
function attach<T, S>(struct: Struct<T, S>, description: Description): Struct<T, S> {
  const copy = Object.create(Struct.prototype) as Struct<T, S>;
  return Object.assign(copy, struct, { [DESCRIPTION]: description });
}
