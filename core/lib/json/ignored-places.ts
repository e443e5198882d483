import { parsePointer } from './json-pointer.js';

/** A node of a trie of places in JSON. */
interface PlaceNode {
  isIgnored: boolean;
  /** The node of `*`, which matches every member and item. */
  every: PlaceNode | null;
  readonly byName: Map<string, PlaceNode>;
}

/** The current nodes of all patterns that have matched so far. */
export type IgnoredPlaces = readonly PlaceNode[];

const NONE: IgnoredPlaces = [];

/** @param pointers JSON Pointers in which a step `*` matches every member and item */
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

/** Returns `null` for an ignored place and everything below it. */
export function enterPlace(places: IgnoredPlaces, key: string | number): IgnoredPlaces | null {
  if (places.length === 0) return NONE;
  const name = String(key);
  const entered: PlaceNode[] = [];
  for (const { byName, every } of places) {
    for (const node of [byName.get(name), every]) {
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
  const child = node.byName.get(name) ?? createNode();
  node.byName.set(name, child);
  return child;
}

function createNode(): PlaceNode {
  return { isIgnored: false, every: null, byName: new Map() };
}
