import { type Infer, type Struct, string, type } from 'superstruct';
import { type AnyStruct, described } from './described.js';

type ReadOnly<T> = T extends readonly (infer Item)[]
  ? readonly ReadOnly<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: ReadOnly<T[Name]> }
    : T;

/** The type of a response, of which nothing changes. */
export type Answer<S extends AnyStruct> = ReadOnly<Infer<S>>;

/** A member of a response with what it means, for the reference. */
export function member<T, S>(struct: Struct<T, S>, text: string): Struct<T, S> {
  return described(struct, { description: text });
}

/** An actor as responses name it. */
export const actorStruct = type({ kind: string(), id: string() });
