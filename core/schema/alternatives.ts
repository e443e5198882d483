import { canonicalizeValue } from '../contract/canonical-value.js';
import { resolveReference, type SchemaScope } from './shared-schemas.js';
import { formOfHeld, isSchemaObject } from './subschema-keywords.js';

/** Keywords that no check depends on. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['$comment', 'contentEncoding', 'contentMediaType', 'contentSchema', 'default', 'deprecated'],
  ...['description', 'examples', 'format', 'readOnly', 'title', 'writeOnly'],
]);

const MAX_REFERENCES = 100;

interface Checked {
  /** Its canonical text: alternatives with the same accept the same values. */
  readonly text: string;
  /** The types that it allows; `null` for all. */
  readonly types: ReadonlySet<unknown> | null;
  /** Whether it accepts all values of its types. */
  readonly isType: boolean;
}

/** Compares alternatives of `oneOf`. Each is read once, wherever it is referred to. */
export class Alternatives {
  readonly #checked = new Map<unknown, Checked>();

  /**
   * Whether an alternative accepts nothing, because another one accepts all its values: `format`
   * and texts make no difference.
   */
  areIndistinct(branches: readonly unknown[], scope: SchemaScope): boolean {
    const all = branches.map((branch) => this.#read(branch, scope));
    if (new Set(all.map(({ text }) => text)).size < all.length) return true;
    const whole = all.filter(({ isType }) => isType);
    return whole.some((one) => all.some((other) => one !== other && includes(one, other)));
  }

  #read(branch: unknown, scope: SchemaScope): Checked {
    let [schema, start] = [branch, scope];
    for (let count = 0; count < MAX_REFERENCES && isPlainReference(schema); count += 1) {
      const target = resolveReference(start, schema['$ref']);
      if (target === null) break;
      [schema, start] = [target.value, target.scope];
    }
    const known = this.#checked.get(schema);
    if (known !== undefined) return known;
    const checked = readChecked(schema);
    this.#checked.set(schema, checked);
    return checked;
  }
}

function isPlainReference(schema: unknown): schema is { readonly $ref: unknown } {
  if (!isSchemaObject(schema) || schema['$ref'] === undefined) return false;
  return Object.keys(schema).every((keyword) => keyword === '$ref' || ANNOTATIONS.has(keyword));
}

function readChecked(schema: unknown): Checked {
  const checked = withoutAnnotations(schema);
  const { type, ...others } = isSchemaObject(checked) ? checked : {};
  const isType = type !== undefined && Object.keys(others).length === 0;
  const types = type === undefined ? null : new Set(Array.isArray(type) ? type : [type]);
  return { text: canonicalizeValue(checked), types, isType };
}

function withoutAnnotations(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  const entries = Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword));
  return Object.fromEntries(
    entries.map(([keyword, value]) => {
      const form = formOfHeld(keyword);
      if (form === 'one') return [keyword, withoutAnnotations(value)];
      if (form === 'list' && Array.isArray(value)) return [keyword, value.map(withoutAnnotations)];
      if (form !== 'map' || !isSchemaObject(value)) return [keyword, value];
      const members = Object.entries(value);
      return [
        keyword,
        Object.fromEntries(members.map(([name, part]) => [name, withoutAnnotations(part)])),
      ];
    }),
  );
}

function includes(whole: Checked, { types }: Checked): boolean {
  if (types === null || whole.types === null) return false;
  const known = whole.types;
  return [...types].every((type) => known.has(type) || (type === 'integer' && known.has('number')));
}
