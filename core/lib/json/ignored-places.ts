import { parsePointer } from './json-pointer.js';

/** A set of places in JSON, one step down. */
interface PlaceNode {
  isIgnored: boolean;
  /** The node of `*`, which stands for every member and item. */
  every: PlaceNode | null;
  readonly named: Map<string, PlaceNode>;
}

/** Where a comparison is in each of the patterns that have matched so far. */
export type IgnoredPlaces = readonly PlaceNode[];

const NONE: IgnoredPlaces = [];

/** @param pointers JSON Pointers in which a step `*` stands for every member and item */
export function createIgnoredPlaces(pointers: readonly string[]): IgnoredPlaces {
  if (pointers.length === 0) return NONE;
  const root = createNode();
  for (const pointer of pointers) {
    let node = root;
    for (const step of parsePointer(pointer)) node = goDown(node, step);
    node.isIgnored = true;
  }
  return [root];
}

/** @returns `null` for a place that is ignored, with everything inside */
export function enterPlace(places: IgnoredPlaces, key: string | number): IgnoredPlaces | null {
  if (places.length === 0) return NONE;
  const name = String(key);
  const entered: PlaceNode[] = [];
  for (const { named, every } of places) {
    for (const node of [named.get(name), every]) {
      if (node == null) continue;
      if (node.isIgnored) return null;
      entered.push(node);
    }
  }
  return entered;
}

function goDown(node: PlaceNode, name: string): PlaceNode {
  if (name === '*') {
    node.every ??= createNode();
    return node.every;
  }
  const known = node.named.get(name) ?? createNode();
  node.named.set(name, known);
  return known;
}

function createNode(): PlaceNode {
  return { isIgnored: false, every: null, named: new Map() };
}
