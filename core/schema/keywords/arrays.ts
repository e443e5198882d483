import { below, type CheckerSource, type KeywordCheck, violates } from '../checker.js';
import { sizeReason } from './size-reason.js';

type Schema = Readonly<Record<string, unknown>>;
type ArrayCheck = KeywordCheck<readonly unknown[]>;

/** Storing an item costs as much as visiting this number of items. */
const COST_OF_UNIQUE_ITEM = 4;

export function compileArrayKeywords(schema: Schema, source: CheckerSource): ArrayCheck[] {
  return [
    ...compileSizes(schema),
    ...compileUnique(schema),
    ...compileItems(schema, source),
    ...compileContains(schema, source),
  ];
}

function compileSizes({ maxItems, minItems }: Schema): ArrayCheck[] {
  const checks: ArrayCheck[] = [];
  if (typeof maxItems === 'number') {
    const reason = sizeReason('at most', maxItems, 'item');
    checks.push((value, run, place) => value.length <= maxItems || violates(run, place, reason));
  }
  if (typeof minItems === 'number') {
    const reason = sizeReason('at least', minItems, 'item');
    checks.push((value, run, place) => value.length >= minItems || violates(run, place, reason));
  }
  return checks;
}

function compileUnique({ uniqueItems }: Schema): ArrayCheck[] {
  if (uniqueItems !== true) return [];
  return [
    (value, run, place) => {
      const keys = new Set<unknown>();
      run.look(value.length * COST_OF_UNIQUE_ITEM);
      for (const [index, item] of value.entries()) {
        const isNested = typeof item === 'object' && item !== null;
        // A string item cannot equal the key of a nested one.
        const key = typeof item === 'string' ? `"${item}` : isNested ? run.ids.keyOf(item) : item;
        if (keys.has(key)) return violates(run, below(place, index), 'expected no repeated item');
        keys.add(key);
      }
      return true;
    },
  ];
}

function compileItems({ prefixItems, items }: Schema, source: CheckerSource): ArrayCheck[] {
  if (prefixItems === undefined && items === undefined) return [];
  const first = Array.isArray(prefixItems) ? prefixItems.map((item) => source.checkerOf(item)) : [];
  const others = items === undefined ? null : source.checkerOf(items);
  return [
    (value, run, place, seen) => {
      const end = others === null ? Math.min(first.length, value.length) : value.length;
      let isValid = true;
      run.look(end);
      for (let index = 0; index < end; index += 1) {
        const checker = first[index] ?? others;
        if (checker === null || checker.check(value[index], run, below(place, index), null))
          continue;
        isValid = false;
        if (place === null || run.isFull) return false;
      }
      seen?.addItems(end);
      return isValid;
    },
  ];
}

function compileContains(schema: Schema, source: CheckerSource): ArrayCheck[] {
  if (schema['contains'] === undefined) return [];
  const checker = source.checkerOf(schema['contains']);
  const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema as {
    minContains?: number;
    maxContains?: number;
  };
  const reason = describeContains(minContains, maxContains);
  return [
    (value, run, place, seen) => {
      let count = 0;
      run.look(value.length);
      for (const [index, item] of value.entries()) {
        if (!checker.check(item, run, null, null)) continue;
        count += 1;
        seen?.addItem(index);
      }
      return (count >= minContains && count <= maxContains) || violates(run, place, reason);
    },
  ];
}

function describeContains(min: number, max: number): string {
  const most = max === Number.POSITIVE_INFINITY ? '' : ` and at most ${max}`;
  return `expected at least ${min}${most} items that the schema 'contains' describes`;
}

/** Checks the items that no other keyword has evaluated; compiled last. */
export function compileUnevaluatedItems(schema: Schema, source: CheckerSource): ArrayCheck[] {
  const { unevaluatedItems } = schema;
  if (unevaluatedItems === undefined) return [];
  const checker = source.checkerOf(unevaluatedItems);
  return [
    (value, run, place, seen) => {
      let isValid = true;
      run.look(value.length);
      for (const [index, item] of value.entries()) {
        if (seen?.hasItem(index)) continue;
        if (checker.check(item, run, below(place, index), null)) continue;
        isValid = false;
        if (place === null || run.isFull) return false;
      }
      seen?.addAllItems();
      return isValid;
    },
  ];
}
