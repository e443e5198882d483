import { type ApiDocument, asList, asObject, asText, type JsonObject } from './api-document.js';
import { create, createDetails } from './dom.js';

/** Shows a schema: its type, its texts, and its members on demand, since schemas may be recursive. */
export function createSchemaView(api: ApiDocument, schema: unknown): HTMLElement {
  const members = createMembers(api, schema);
  return create(
    'div',
    { class: 'schema' },
    create(
      'p',
      {},
      create('code', {}, describeType(api, schema)),
      ` ${describeRules(api.follow(schema))}`,
    ),
    ...members,
  );
}

function createMembers(api: ApiDocument, schema: unknown): HTMLElement[] {
  const followed = api.follow(schema);
  const properties = Object.entries(asObject(followed['properties']));
  const required = new Set(asList(followed['required']));
  const lists: HTMLElement[] = [];
  if (properties.length > 0) {
    const rows = properties.map(([name, property]) => {
      return createMember(api, name, property, required.has(name));
    });
    lists.push(create('ul', {}, ...rows));
  }
  for (const [keyword, title] of ALTERNATIVES) {
    const parts = asList(followed[keyword]);
    if (parts.length === 0) continue;
    const rows = parts.map((part) => createMember(api, '', part, false));
    lists.push(create('p', {}, title), create('ul', {}, ...rows));
  }
  const { items } = followed;
  if (hasMembers(api, items))
    lists.push(create('p', {}, 'each item:'), ...createMembers(api, items));
  return lists;
}

const ALTERNATIVES = [
  ['allOf', 'all of:'],
  ['anyOf', 'any of:'],
  ['oneOf', 'one of:'],
] as const;

function createMember(
  api: ApiDocument,
  name: string,
  schema: unknown,
  isRequired: boolean,
): HTMLElement {
  const followed = api.follow(schema);
  const text = asText(asObject(schema)['description']) || asText(followed['description']);
  const row = create(
    'li',
    {},
    name === '' ? null : create('code', { class: 'name' }, name),
    ' ',
    create('code', {}, describeType(api, schema)),
    isRequired ? create('span', { class: 'required' }, ' required') : null,
    ` ${describeRules(followed)}`,
    text === '' ? null : create('p', {}, text),
  );
  if (hasMembers(api, schema)) {
    row.append(createDetails(['members'], () => createMembers(api, schema)));
  }
  return row;
}

function hasMembers(api: ApiDocument, schema: unknown): boolean {
  const followed = api.follow(schema);
  const isCombined = ALTERNATIVES.some(([keyword]) => asList(followed[keyword]).length > 0);
  const hasProperties = Object.keys(asObject(followed['properties'])).length > 0;
  // An array of itself is shown by its name only.
  const { items } = followed;
  const isDeep = items !== undefined && api.follow(items) !== followed && isLarge(api, items);
  return isCombined || hasProperties || isDeep;
}

function isLarge(api: ApiDocument, schema: unknown): boolean {
  return Object.keys(asObject(api.follow(schema)['properties'])).length > 0;
}

/** `string`, `Item[]`, `"a" | "b"`. */
export function describeType(api: ApiDocument, schema: unknown): string {
  if (schema === false) return 'nothing';
  const { $ref: reference } = asObject(schema);
  if (typeof reference === 'string') return decodeURIComponent(reference.replace(/^.*\//, ''));
  const own = asObject(schema);
  if ('const' in own) return JSON.stringify(own['const']);
  const { enum: values, type, items } = own;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (type === 'array') return `${describeType(api, items)}[]`;
  if (Array.isArray(type)) return type.join(' | ');
  if (typeof type === 'string') return type;
  return own['properties'] === undefined ? 'any JSON' : 'object';
}

const RULES = [
  'format',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'default',
] as const;

function describeRules(schema: JsonObject): string {
  const rules = RULES.filter((rule) => schema[rule] !== undefined);
  return rules.map((rule) => `${rule} ${JSON.stringify(schema[rule])}`).join(', ');
}
