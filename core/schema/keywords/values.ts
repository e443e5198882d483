import { type KeywordCheck, violates } from '../checker.js';
import { equalJson } from '../equal-json.js';

const MAX_LISTED = 10;
const MAX_LISTED_LENGTH = 200;

/** `enum` and `const`. */
export function compileValueKeywords(schema: Readonly<Record<string, unknown>>): KeywordCheck[] {
  const lists: (readonly unknown[])[] = [];
  if (Array.isArray(schema['enum'])) lists.push(schema['enum']);
  if (Object.hasOwn(schema, 'const')) lists.push([schema['const']]);
  return lists.map((values) => {
    const simple = new Set(values.filter((value) => !isNested(value)));
    const nested = values.filter(isNested);
    const reason = describeValues(values);
    return (value, run, at) => {
      if (simple.has(value)) return true;
      if (isNested(value)) {
        run.spend(nested.length);
        if (nested.some((one) => equalJson(one, value))) return true;
      }
      return violates(run, at, reason);
    };
  });
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function describeValues(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  if (values.length > MAX_LISTED || text.length > MAX_LISTED_LENGTH) {
    return `expected one of ${values.length} values`;
  }
  return values.length === 1 ? `expected ${text}` : `expected one of ${text}`;
}
