import type { Context, Struct } from 'superstruct';
import type { Path } from './fault.js';

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
  const children: StructPlace[] = [];
  for (const [key, value, struct] of place.struct.entries(place.value, contextOf(place))) {
    const path = [...place.path, key];
    children.push({ path, branch: [...place.branch, value], value, struct: struct as AnyStruct });
  }
  return children;
}

/** The place at a path, `null` where a union hides it. */
export function findPlace(root: StructPlace, path: Path): StructPlace | null {
  let place = root;
  for (const key of path) {
    // A record yields each entry twice, the key first.
    const next = listChildren(place).findLast((child) => child.path.at(-1) === key);
    if (next === undefined) return null;
    place = next;
  }
  return place;
}
