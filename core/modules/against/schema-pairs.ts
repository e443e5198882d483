import { createTurns } from '../../lib/slices.js';
import { resolveReference, type SchemaScope } from '../../schema/shared-schemas.js';
import { isSchemaObject } from '../../schema/subschema-keywords.js';
import { type ComparedParts, comparePair, isConstrained } from './compare-pair.js';

/** A schema, with the targets of its references. */
export interface Place {
  readonly schema: unknown;
  readonly scope: SchemaScope;
}

/** Two schemas that apply to the same value. */
export interface SchemaPair extends ComparedParts<SchemaPair> {
  /** Whether they, or schemas that they lead to, accept other values. */
  readonly differs: boolean;
}

interface OpenPair {
  readonly before: Place;
  readonly after: Place;
  differs: boolean;
  own: ComparedParts<OpenPair>['own'];
  parts: ComparedParts<OpenPair>['parts'];
  readonly parents: OpenPair[];
}

/**
 * The most pairs of a module: more than the largest published descriptions have. References in
 * circles of different lengths may lead to many more than there are schemas.
 */
const MAX_PAIRS = 300_000;
const MAX_REFERENCES = 10_000;

/** Thrown for schemas that lead to too many pairs. */
export class TooManyPairs extends Error {}

/**
 * Compares schemas of two manifests. Each pair is compared once, because recursive schemas lead to
 * the same pairs again. Uses no recursion, because chains of references are long.
 */
export class SchemaPairs {
  readonly #pairs = new Map<unknown, Map<unknown, OpenPair>>();
  readonly #pending: OpenPair[] = [];
  readonly #takeTurn = createTurns();
  #size = 0;

  /** @throws TooManyPairs */
  async compare(before: Place, after: Place): Promise<SchemaPair> {
    const root = this.#open(before, after);
    for (let pair = this.#pending.pop(); pair !== undefined; pair = this.#pending.pop()) {
      await this.#takeTurn();
      this.#comparePending(pair);
    }
    return root;
  }

  #comparePending(pair: OpenPair): void {
    const { own, parts } = comparePair(pair.before.schema, pair.after.schema, (before, after) =>
      this.#open({ ...pair.before, schema: before }, { ...pair.after, schema: after }),
    );
    pair.own = own;
    pair.parts = parts;
    for (const part of parts) part.pair.parents.push(pair);
    if (own.length > 0 || parts.some((part) => part.pair.differs)) markDiffering(pair);
  }

  #open(before: Place, after: Place): OpenPair {
    const [old, now] = [follow(before), follow(after)];
    const known = this.#pairs.get(old.schema) ?? new Map<unknown, OpenPair>();
    this.#pairs.set(old.schema, known);
    const found = known.get(now.schema);
    if (found !== undefined) return found;
    this.#size += 1;
    if (this.#size > MAX_PAIRS) throw new TooManyPairs();
    const pair = { before: old, after: now, differs: false, own: [], parts: [], parents: [] };
    known.set(now.schema, pair);
    this.#pending.push(pair);
    return pair;
  }
}

function markDiffering(start: OpenPair): void {
  const pending = [start];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    if (pair.differs) continue;
    pair.differs = true;
    for (const parent of pair.parents) pending.push(parent);
  }
}

/** Follows a reference unless the schema has other constraints. */
function follow(start: Place): Place {
  let { schema, scope } = start;
  for (let step = 0; step < MAX_REFERENCES; step += 1) {
    if (!isSchemaObject(schema) || typeof schema['$ref'] !== 'string' || isConstrained(schema)) {
      return { schema, scope };
    }
    const target = resolveReference(scope, schema['$ref']);
    schema = target?.value ?? true;
    scope = target?.scope ?? scope;
  }
  return { schema: true, scope };
}
