import { object } from 'superstruct';
import { type AnyStruct, described, filledIn, named, withDefault } from '../contract/described.js';
import { wholeNumber } from '../contract/whole-number.js';
import { numberBetween } from '../document/structs.js';

export const ONE_HOUR_MS = 3_600_000;
export const ONE_DAY_MS = 86_400_000;
/** More sockets than one process can open. */
export const MANY = 100_000;

/** The bounds detect a wrong unit (seconds for milliseconds, MiB for bytes); they are not a policy. */
type Bounds = readonly [min: number, max: number];

type Members = Record<string, AnyStruct>;

/** A mapping that the schema defines once, by its name. */
export function mapping<S extends Members>(name: string, description: string, members: S) {
  return named(name, described(object(members), { description }));
}

/** The same, whose members have their own defaults if it is absent. */
export function filledMapping<S extends Members>(name: string, description: string, members: S) {
  return filledIn(mapping(name, description, members));
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
