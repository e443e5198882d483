import type { Context, Struct } from 'superstruct';
import type { Path } from './diagnostic.js';

// superstruct's own signatures use `any` for what a struct holds inside.
// biome-ignore lint/suspicious/noExplicitAny: structs of any type and schema are walked alike
export type AnyStruct = Struct<any, any>;

/** A place in a value together with the struct that judges it. */
export interface StructPlace {
  readonly path: Path;
  /** The values from the root down to this one, as `dynamic` structs expect them. */
  readonly branch: readonly unknown[];
  readonly value: unknown;
  readonly struct: AnyStruct;
}

export function rootPlace(value: unknown, struct: AnyStruct): StructPlace {
  return { path: [], branch: [value], value, struct };
}

export function contextOf(place: StructPlace): Context {
  return { path: [...place.path], branch: [...place.branch], mask: false };
}

/**
 * The entries of a place with their structs, keys that the value lacks included. A union has none: it
 * keeps its branches to itself.
 */
export function listChildren(place: StructPlace): StructPlace[] {
  return [...walkChildren(place)];
}

function* walkChildren(place: StructPlace): Generator<StructPlace> {
  for (const [key, value, struct] of place.struct.entries(place.value, contextOf(place))) {
    const path = [...place.path, key];
    yield { path, branch: [...place.branch, value], value, struct: struct as AnyStruct };
  }
}

/** The place at a path, `null` where a union hides it. */
export function findPlace(root: StructPlace, path: Path): StructPlace | null {
  let place = root;
  for (const key of path) {
    const next = findChild(place, key);
    if (next === null) return null;
    place = next;
  }
  return place;
}

/** Looks no further than it must: a value may have a hundred thousand children. */
function findChild(place: StructPlace, key: string | number): StructPlace | null {
  let found: StructPlace | null = null;
  for (const child of walkChildren(place)) {
    // A record yields each entry twice, one after the other, the key first.
    if (child.path.at(-1) === key) found = child;
    else if (found !== null) return found;
  }
  return found;
}
