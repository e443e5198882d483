import { readSharedName } from '../../schema/shared-schemas.js';
import { isObject, type JsonObject } from '../json-value.js';
import { mapSchemas } from './schema-keywords.js';

interface Loosening {
  /** Whether references to a shared schema are removed, so that any value is accepted there. */
  readonly isCut: (name: string) => boolean;
  /** Whether a shared schema accepts more than the document specifies. */
  readonly isWider: (name: string) => boolean;
}

interface Loosened {
  readonly schema: unknown;
  readonly isWider: boolean;
}

/**
 * Returns a schema that still accepts everything that it did before parts of it became wider. A
 * keyword such as `not` or `oneOf` is removed or weakened if a wider part would make the whole
 * stricter.
 */
export function loosenSchema(schema: unknown, loosening: Loosening): Loosened {
  if (!isObject(schema)) return { schema, isWider: false };
  const members = new Map<string, unknown>();
  const wider = new Set<string>();
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$ref') {
      const name = readSharedName(value);
      const isCut = name !== null && loosening.isCut(name);
      if (isCut || (name !== null && loosening.isWider(name))) wider.add(keyword);
      if (!isCut) members.set(keyword, value);
      continue;
    }
    const loosened = loosenMember(keyword, value, loosening);
    members.set(keyword, loosened.schema);
    if (loosened.isWider) wider.add(keyword);
  }
  if (wider.size === 0) return { schema, isWider: false };
  weaken(members, wider);
  return { schema: Object.fromEntries(members), isWider: true };
}

function loosenMember(keyword: string, value: unknown, loosening: Loosening): Loosened {
  let isWider = false;
  const schema = mapSchemas(keyword, value, (part) => {
    const loosened = loosenSchema(part, loosening);
    isWider ||= loosened.isWider;
    return loosened.schema;
  });
  return { schema, isWider };
}

function weaken(members: Map<string, unknown>, wider: ReadonlySet<string>): void {
  if (wider.has('not')) members.delete('not');
  if (['if', 'then', 'else'].some((keyword) => wider.has(keyword))) {
    for (const keyword of ['if', 'then', 'else']) members.delete(keyword);
  }
  if (wider.has('contains')) members.delete('maxContains');
  // An open part evaluates fewer members than the document specifies.
  for (const keyword of ['unevaluatedProperties', 'unevaluatedItems']) members.delete(keyword);
  if (wider.has('oneOf')) {
    const branches = members.get('oneOf');
    members.delete('oneOf');
    if (!members.has('anyOf')) members.set('anyOf', branches);
  }
  const branches = members.get('anyOf');
  if (Array.isArray(branches) && branches.some(isOpen)) members.delete('anyOf');
}

function isOpen(schema: unknown): boolean {
  return schema === true || (isObject(schema) && Object.keys(schema).length === 0);
}

export function listSharedNames(schema: unknown): string[] {
  const names = new Set<string>();
  const open = [schema];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const name = readSharedName((value as JsonObject)['$ref']);
    if (name !== null) names.add(name);
    for (const member of Object.values(value)) {
      if (typeof member === 'object' && member !== null) open.push(member);
    }
  }
  return [...names];
}
