import { object } from 'superstruct';
import { type AnyStruct, described, named, withDefault } from '../contract/described.js';
import { numberBetween, wholeNumber } from '../document/structs.js';

/** The bounds detect a wrong unit (seconds for milliseconds, MiB for bytes); they are not a policy. */
type Bounds = readonly [min: number, max: number];

type Members = Record<string, AnyStruct>;

export function section<S extends Members>(name: string, description: string, members: S) {
  return named(name, described(object(members), { description }));
}

export function count(fallback: number, bounds: Bounds, description: string) {
  return withDefault(wholeNumber(...bounds), fallback, { description });
}

export function milliseconds(fallback: number, bounds: Bounds, description: string) {
  return count(fallback, bounds, `${description} Milliseconds.`);
}

export function seconds(fallback: number, bounds: Bounds, description: string) {
  return count(fallback, bounds, `${description} Seconds.`);
}

export function bytes(fallback: number, bounds: Bounds, description: string) {
  return count(fallback, bounds, `${description} Bytes.`);
}

export function amount(fallback: number, bounds: Bounds, description: string) {
  return withDefault(numberBetween(...bounds), fallback, { description });
}
