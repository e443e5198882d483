import {
  type ApiDocument,
  type ApiOperation,
  asList,
  asObject,
  asText,
  type JsonObject,
  readExamples,
  readMedia,
} from './api-document.js';
import { create, createDetails, createParagraphs } from './dom.js';
import { formatJson } from './json-text.js';
import { type Caller, createTryIt } from './try-it.js';

const ALTERNATIVES = [
  ['allOf', 'all of:'],
  ['anyOf', 'any of:'],
  ['oneOf', 'one of:'],
] as const;

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

/** Creates a closed operation, whose content is created when it is opened. */
export function createOperationView(
  api: ApiDocument,
  entry: ApiOperation,
  caller: Caller,
): HTMLElement {
  const { method, path, operation } = entry;
  const isDeprecated = operation['deprecated'] === true;
  const summary = asText(operation['summary']);
  return createDetails(
    [
      create('span', { class: `method ${method.toLowerCase()}` }, method),
      ' ',
      create('code', { class: 'path' }, path),
      isDeprecated ? create('span', { class: 'deprecated' }, ' deprecated') : null,
      summary === '' ? null : create('span', { class: 'summary' }, ` ${summary}`),
    ],
    () => createContent(api, entry, caller),
    { class: 'operation' },
  );
}

function createContent(api: ApiDocument, entry: ApiOperation, caller: Caller): HTMLElement[] {
  const { operation, parameters } = entry;
  const body = api.follow(operation['requestBody']);
  const hasBody = operation['requestBody'] !== undefined;
  return [
    ...createParagraphs(operation['description']),
    ...createRights(operation),
    ...(parameters.length === 0 ? [] : [title('Parameters'), createParameters(api, parameters)]),
    ...(hasBody ? [title('Request body'), ...createBody(api, body)] : []),
    title('Responses'),
    ...createResponses(api, operation),
    title('Try it'),
    createTryIt(api, entry, caller),
  ];
}

function title(text: string): HTMLElement {
  return create('h3', {}, text);
}

function createRights({ security }: JsonObject): HTMLElement[] {
  const scopes = asList(security).flatMap((requirement) =>
    Object.values(asObject(requirement)).flatMap(asList),
  );
  const names = [...new Set(scopes.map(String))];
  if (names.length === 0) return [];
  return [create('p', {}, 'Needs ', create('code', {}, names.join(', ')))];
}

function createParameters(api: ApiDocument, parameters: readonly JsonObject[]): HTMLElement {
  const rows = parameters.map((parameter) => {
    const { name, in: place, required, description } = parameter;
    const schema = parameter['schema'] ?? readMedia(parameter)['schema'];
    const text = asText(description) || asText(api.follow(schema)['description']);
    return create(
      'tr',
      {},
      create('td', {}, create('code', {}, asText(name))),
      create('td', {}, asText(place)),
      create(
        'td',
        {},
        create('code', {}, describeType(api, schema)),
        ` ${describeRules(api, schema)}`,
      ),
      create('td', {}, required === true ? 'required' : ''),
      create('td', {}, text),
    );
  });
  const heads = ['Name', 'In', 'Type', '', 'Meaning'].map((head) => create('th', {}, head));
  return create(
    'div',
    { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Parameters' },
    create(
      'table',
      {},
      create('thead', {}, create('tr', {}, ...heads)),
      create('tbody', {}, ...rows),
    ),
  );
}

function createBody(api: ApiDocument, body: JsonObject): HTMLElement[] {
  const media = readMedia(body);
  return [
    ...createParagraphs(body['description']),
    ...(media['schema'] === undefined ? [] : [createSchemaView(api, media['schema'])]),
    ...createExamples(api, media),
  ];
}

function createExamples(api: ApiDocument, media: JsonObject): HTMLElement[] {
  return readExamples(api, media).map(([name, value]) =>
    createDetails([`Example: ${name}`], () => [
      create('pre', { tabindex: '0' }, formatJson(JSON.stringify(value) ?? '')),
    ]),
  );
}

function createResponses(api: ApiDocument, { responses }: JsonObject): HTMLElement[] {
  return Object.entries(asObject(responses)).map(([status, response]) => {
    const followed = api.follow(response);
    return createDetails([`${status} ${asText(followed['description'])}`], () =>
      createBody(api, { content: followed['content'] }),
    );
  });
}

/**
 * Shows a schema: its type, its texts, and its members on demand, since schemas may be recursive.
 */
function createSchemaView(api: ApiDocument, schema: unknown): HTMLElement {
  const members = createMembers(api, schema);
  return create(
    'div',
    { class: 'schema' },
    create(
      'p',
      {},
      create('code', {}, describeType(api, schema)),
      ` ${describeRules(api, schema)}`,
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
    ` ${describeRules(api, schema)}`,
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
  // A recursive array is shown by its name only.
  const { items } = followed;
  const isDeep = items !== undefined && api.follow(items) !== followed && isLarge(api, items);
  return isCombined || hasProperties || isDeep;
}

function isLarge(api: ApiDocument, schema: unknown): boolean {
  return Object.keys(asObject(api.follow(schema)['properties'])).length > 0;
}

/** `string`, `Item[]`, `"a" | "b"`. */
function describeType(api: ApiDocument, schema: unknown): string {
  if (schema === false) return 'nothing';
  const { $ref: reference } = asObject(schema);
  if (typeof reference === 'string') return decodeURIComponent(reference.replace(/^.*\//, ''));
  const resolved = asObject(schema);
  if ('const' in resolved) return JSON.stringify(resolved['const']);
  const { enum: values, type, items } = resolved;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (type === 'array') return `${describeType(api, items)}[]`;
  if (Array.isArray(type)) return type.join(' | ');
  if (typeof type === 'string') return type;
  return resolved['properties'] === undefined ? 'any JSON' : 'object';
}

/** The rules of a schema, beside it or in the shared schema that it names, whose type is its name. */
function describeRules(api: ApiDocument, schema: unknown): string {
  const followed = api.follow(schema);
  const own = asObject(schema);
  const isShared = own !== followed;
  const all: JsonObject = { ...followed, ...own };
  const type = isShared && followed['properties'] === undefined ? describeType(api, followed) : '';
  const rules = RULES.filter((rule) => all[rule] !== undefined);
  const texts = rules.map((rule) => `${rule} ${JSON.stringify(all[rule])}`);
  return [type, ...texts].filter((text) => text !== '').join(', ');
}
