import { optional, Struct } from 'superstruct';

/** Keywords of JSON Schema; a struct among their values stands for its own schema. */
type Keywords = Readonly<Record<string, unknown>>;

interface Description {
  readonly keywords: Keywords;
  readonly definition: { readonly name: string; readonly struct: unknown } | null;
}

/** The host derives the JSON Schema of descriptors from it. */
const DESCRIPTION = Symbol.for('modgate.description');

/** Adds a description, a default and other JSON Schema keywords to a struct. */
export function described<T, S>(struct: Struct<T, S>, keywords: Keywords): Struct<T, S> {
  const before = readDescription(struct);
  return attach(struct, { ...before, keywords: { ...before.keywords, ...keywords } });
}

/** A member that may be absent; superstruct's `optional` would lose the keywords of the struct. */
export function optionally<T, S>(
  struct: Struct<T, S>,
  keywords: Keywords,
): Struct<T | undefined, S> {
  const before = readDescription(struct);
  const keys = { ...before.keywords, ...keywords };
  return attach(optional(struct), { ...before, keywords: keys });
}

/** Moves the schema of a struct to the definitions, so that it is written once. */
export function named<T, S>(name: string, struct: Struct<T, S>): Struct<T, S> {
  return attach(struct, { keywords: {}, definition: { name, struct } });
}

/** The keywords `if`, `then` and `else`. */
export function when(condition: Keywords, then: unknown, otherwise?: unknown): Keywords {
  return { if: condition, then, ...(otherwise !== undefined && { else: otherwise }) };
}

/** For `dependentRequired`: a certificate requires its key. */
export const CERTIFICATE_PAIR = { cert: ['key'], key: ['cert'] };

/** The keywords of a mapping with exactly one member. */
export function oneMember(description: string): Keywords {
  return { minProperties: 1, maxProperties: 1, description };
}

function readDescription(struct: object): Description {
  const { [DESCRIPTION]: description } = struct as { [DESCRIPTION]?: Description };
  return description ?? { keywords: {}, definition: null };
}

function attach<T, S>(struct: Struct<T, S>, description: Description): Struct<T, S> {
  return Object.assign(new Struct<T, S>({ ...struct }), { [DESCRIPTION]: description });
}
