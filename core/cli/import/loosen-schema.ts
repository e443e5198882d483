import { readSharedName } from '../../schema/shared-schemas.js';
import { isObject } from '../json-value.js';
import { lostOf } from './lost-keywords.js';
import { mapSchemas } from './schema-keywords.js';

interface Loosening {
  /** Whether a shared schema accepts more than the document specifies. */
  readonly isWider: (name: string) => boolean;
  /** Called with each keyword that is removed or weakened, because it would reject more. */
  readonly onWeakened: (keyword: string) => void;
}

interface Loosened {
  readonly schema: unknown;
  readonly isWider: boolean;
}

/**
 * Returns a schema that still accepts everything that it did before parts of it became wider or
 * were left out. A keyword such as `not` or `oneOf` is removed or weakened if a wider part would
 * make the whole stricter.
 */
export function loosenSchema(schema: unknown, loosening: Loosening): Loosened {
  if (!isObject(schema)) return { schema, isWider: false };
  const lost = lostOf(schema);
  const members = new Map<string, unknown>();
  const wider = new Set<string>();
  for (const [keyword, value] of Object.entries(schema)) {
    const loosened = loosenMember(keyword, value, loosening);
    members.set(keyword, loosened.schema);
    if (loosened.isWider) wider.add(keyword);
  }
  if (wider.size === 0 && lost.size === 0) return { schema, isWider: false };
  weaken(members, wider, lost, loosening.onWeakened);
  return { schema: Object.fromEntries(members), isWider: true };
}

function loosenMember(keyword: string, value: unknown, loosening: Loosening): Loosened {
  const name = keyword === '$ref' ? readSharedName(value) : null;
  let isWider = name !== null && loosening.isWider(name);
  const schema = mapSchemas(keyword, value, (part) => {
    const loosened = loosenSchema(part, loosening);
    isWider ||= loosened.isWider;
    return loosened.schema;
  });
  return { schema, isWider };
}

/** The keywords whose schemas evaluate members and items of the same value. */
const IN_PLACE = [
  ...['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas'],
];
/** The keywords that evaluate members and items. */
const EVALUATING = [
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'],
  ...['prefixItems', 'items', 'contains', 'unevaluatedItems'],
];

/** The keywords that reject values which a lost keyword no longer describes. */
const OTHERS: readonly (readonly [lost: string, others: string])[] = [
  ['properties', 'additionalProperties'],
  ['patternProperties', 'additionalProperties'],
  ['prefixItems', 'items'],
  ['minContains', 'contains'],
];

function weaken(
  members: Map<string, unknown>,
  wider: ReadonlySet<string>,
  lost: ReadonlySet<string>,
  onWeakened: (keyword: string) => void,
): void {
  const drop = (keyword: string) => {
    if (members.delete(keyword)) onWeakened(keyword);
  };
  if (wider.has('not')) drop('not');
  if (wider.has('if')) for (const keyword of ['if', 'then', 'else']) drop(keyword);
  if (wider.has('contains')) drop('maxContains');
  for (const [keyword, others] of OTHERS) if (lost.has(keyword)) drop(others);
  const evaluatesFewer =
    IN_PLACE.some((keyword) => wider.has(keyword) || lost.has(keyword)) ||
    EVALUATING.some((keyword) => lost.has(keyword));
  if (evaluatesFewer) for (const others of ['Properties', 'Items']) drop(`unevaluated${others}`);
  if (wider.has('oneOf')) {
    const branches = members.get('oneOf');
    drop('oneOf');
    if (!members.has('anyOf')) members.set('anyOf', branches);
  }
  const branches = members.get('anyOf');
  if (Array.isArray(branches) && branches.some(isOpen)) members.delete('anyOf');
}

export function isOpen(schema: unknown): boolean {
  return schema === true || (isObject(schema) && Object.keys(schema).length === 0);
}
