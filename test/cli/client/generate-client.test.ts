import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readClientModel } from '../../../core/cli/typescript/client-model.js';
import { generateClient, withoutHeader } from '../../../core/cli/typescript/generate-client.js';
import { createFolder, removeFoldersAfterEach } from '../../support/documents/temporary-folder.js';
import { compile, toModuleUrl } from '../../support/typescript/compile.js';
import { SAMPLE_DOCUMENT } from '../../support/typescript/sample-document.js';

const CLIENT = generateClient(readClientModel(SAMPLE_DOCUMENT));

/** Uses the client as a developer does; each line with an error is expected to be one. */
const USE = `
import { createClient } from './client.js';

export async function use(): Promise<string> {
  const client = createClient({ url: 'http://127.0.0.1:1', token: 'x' });
  const result = await client.shop.getItem({ id: '7' }, { headers: { 'x-a': 'b' } });
  if (result.ok) {
    const kind: 'a' | 'b' | null = result.data.kind;
    const size: number | undefined = result.data.map?.['x'];
    // @ts-expect-error the schema has no such member
    result.data.missing;
    return \`\${kind} \${size}\`;
  }
  const { error } = result;
  switch (error.code) {
    case 'unauthorized':
      return error.status.toFixed();
    case 'not_found':
      return error.detail;
    case 'external_dependency_failure':
    case 'provider_error':
      return error.errors.map(({ reason }) => reason).join();
    case 'unexpected_answer':
      return String(error.body);
    default: {
      const never: never = error;
      return never;
    }
  }
}

export async function pages(): Promise<string[]> {
  const client = createClient({ url: '', token: () => 'x', fetch });
  const ids: string[] = [];
  for await (const page of client.shop.listItemsPages({ limit: 2 })) {
    if (page.ok) ids.push(...page.data.records.map(({ id }) => id));
  }
  const body = { id: '', kind: null };
  await client.shop.putItem({ path_id: 'b', query_id: 1, query_body: 'x', body });
  await client.shop.list_items(undefined, { idempotencyKey: 'k' });
  // @ts-expect-error the route requires a key
  await client.shop.list_items({ body: {} });
  // @ts-expect-error the path and the query have this name
  await client.shop.putItem({ id: 'a', path_id: 'b', body });
  return ids;
}
`;

const CODE = 'globalThis.injected = 1;';
/** Texts that end a comment, a string or a line, and then run code. */
const HOSTILE = [
  `*/ ${CODE} /*`,
  `**//${CODE}//`,
  `\`\${${CODE}}\``,
  `"; ${CODE} //`,
  `'; ${CODE} //`,
  `\\"; ${CODE} //`,
  ...['\n', '\r', '\u2028', '\u2029'].map((end) => `${end}${CODE}${end}`),
  `}; ${CODE} {`,
];

/** A document that has the text wherever it can have one. */
function describeHostile(text: string) {
  const schema = {
    ...{ type: 'object', title: text, description: text, format: text, default: text },
    properties: { [text]: { const: text, description: text }, value: { enum: [text, [text]] } },
    required: [text, `required ${text}`],
  };
  const json = (value: unknown) => ({ content: { 'application/json': { schema: value } } });
  const parameters = [
    { in: 'path', name: text, 'x-modgate-name': text, schema },
    { in: 'query', name: text, schema },
  ];
  const operation = {
    ...{ operationId: text, tags: [text], summary: text, description: text },
    security: [{ bearer: [text] }],
    requestBody: json(schema),
    responses: {
      200: json({ $ref: `#/components/schemas/${encodeURIComponent(text).replaceAll('~', '~0')}` }),
      404: json({ properties: { code: { const: text } } }),
    },
  };
  return {
    info: { version: text },
    paths: { [`/modules/${text}/http/{${text}}`]: { parameters, post: operation } },
    components: { schemas: { [text]: schema } },
  };
}

/** Each operation has components of its own; one is recursive, another differs. */
const REPEATED_DOCUMENT = {
  info: {},
  paths: {
    '/a': { get: describeRead('shop.getItem'), put: describeRead('shop.putItem') },
    '/b': { get: describeRead('shop.getOther'), put: describeRead('crm.getItem', 'crm') },
  },
  components: {
    schemas: {
      ...describeItem('shop.getItem'),
      ...describeItem('shop.putItem'),
      ...describeItem('shop.getOther', { size: { type: 'number' } }),
      ...describeItem('crm.getItem'),
    },
  },
};

function describeRead(operationId: string, module = 'shop') {
  const schema = { $ref: `#/components/schemas/${operationId}.output.Item` };
  const problem = { properties: { code: { const: 'not_found' } } };
  const json = (value: unknown) => ({ content: { 'application/json': { schema: value } } });
  const responses = { 200: json(schema), 404: json(problem), 410: json(problem) };
  return { operationId, tags: [module], responses };
}

function describeItem(operationId: string, overrides: object = {}) {
  const name = `${operationId}.output.Item`;
  const items = { type: 'array', items: { $ref: `#/components/schemas/${name}` } };
  const tag = `${operationId}.output.Tag`;
  return {
    [name]: {
      type: 'object',
      properties: { items, tag: { $ref: `#/components/schemas/${tag}` } },
    },
    [tag]: { type: 'object', properties: { text: { type: 'string' }, ...overrides } },
  };
}

/** Names that are equal once a suffix is added: `listPages`, and the type `ShopListError`. */
function describeClashes() {
  const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });
  const properties = { next_cursor: { type: 'string' } };
  const describeGet = (operationId: string, module = 'shop') => ({
    ...{ operationId: `${module}.${operationId}`, tags: [module] },
    parameters: [{ in: 'query', name: 'cursor', schema: { type: 'string' } }],
    responses: { 200: json({ type: 'object', properties }), 404: json({}) },
  });
  return {
    info: {},
    paths: {
      '/f': { get: describeGet('list') },
      '/g': { get: describeGet('listPages') },
      '/h': { get: describeGet('read', 'shop-list') },
    },
  };
}

/** Words of the language, members that every object has, and names that the client uses itself. */
const SPECIAL_NAMES = [
  ...['new', 'constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', 'prototype'],
  ...['delete', 'function', 'class', 'default', 'import', 'get', 'set', 'static', 'readonly'],
  ...['async', 'await', 'yield', 'this', 'super', 'null', 'true', 'void', 'typeof', 'in', 'then'],
  ...['arguments', 'eval', 'undefined', 'name', 'length', 'send', 'input', 'options', 'readPages'],
];

/** A document in which everything that a client names has this name. */
function describeNamedModule(name: string) {
  const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });
  const schema = {
    type: 'object',
    properties: JSON.parse(`{${JSON.stringify(name)}: {"type": "string"}}`) as object,
    required: [name],
  };
  const parameters = [
    { in: 'path', name, schema: { type: 'string' } },
    { in: 'query', name: 'cursor', schema: { type: 'string' } },
  ];
  const data = { type: 'object', properties: { next_cursor: {}, item: schema } };
  const responses = { 200: json(data), 404: json({}) };
  const get = { operationId: `${name}.${name}`, tags: [name], parameters, responses };
  const post = { operationId: `${name}.x`, tags: [name], requestBody: json(schema), responses };
  return { info: {}, paths: { [`/a/{${name}}`]: { get }, '/b': { post } } };
}

describe('a generated client', () => {
  removeFoldersAfterEach();

  const compileUse = (use: string, lib: readonly string[], types: readonly string[]) => {
    const folder = createFolder({ 'client.ts': CLIENT, 'use.ts': use });
    return compile([join(folder, 'use.ts'), join(folder, 'client.ts')], { lib, types });
  };

  it('compiles under the oldest TypeScript in strict mode, with and without the types of a platform', () => {
    expect(compileUse(USE, ['es2022', 'dom'], [])).to.deep.equal([]);
    expect(compileUse(USE.replace(', fetch }', ' }'), ['es2022'], [])).to.deep.equal([]);
  }).timeout(60_000);

  it('documents functions and types', () => {
    expect(CLIENT).to.include(
      [
        '  /**',
        '   * Read an item *\\/ of the shop',
        '   *',
        '   * `GET /modules/shop/http/items/{id}`, needs `shop.read`',
        '   *',
        '   * @deprecated',
        '   */',
        '  getItem(',
      ].join('\n'),
    );
    expect(CLIENT).to.include('/**\n * An item\n * for sale\n */\nexport interface ShopItem {');
  });

  it('leaves out routes with streams of events and WebSockets, and says so', () => {
    const describe = (name: string, responses: object) => ({
      get: { operationId: `chat.${name}`, tags: ['chat'], responses },
    });
    const sse = { 200: { content: { 'text/event-stream': {} }, 'x-modgate-stream': 'sse' } };
    const socket = { 101: { 'x-modgate-stream': 'websocket' }, 426: {} };
    const paths = {
      '/modules/chat/http/events': describe('read', sse),
      '/modules/chat/http/socket': describe('open', socket),
    };
    const text = generateClient(readClientModel({ info: {}, paths }));
    expect(text).to.include(
      ' * Left out, since they answer with streams of events, or are WebSockets:\n',
    );
    expect(text).to.include(' * - GET /modules/chat/http/events\n');
    expect(text).to.include(' * - GET /modules/chat/http/socket\n');
    expect(text).not.to.match(/ChatReadData|ChatOpen|\bopen\(/);
  });

  it('names functions and arguments so that they differ', () => {
    const declared = CLIENT.slice(CLIENT.indexOf('/** Module'), CLIENT.indexOf('interface Route'));
    const names = [...declared.matchAll(/^ {2}("?\w+"?)\(/gm)].map(([, name]) => name);
    expect(names).to.deep.equal([
      ...['getItem', 'putItem', 'listItems', 'listItemsPages', 'list_items'],
      ...['__proto__', 'delete'],
    ]);
    expect(CLIENT).to.match(
      /interface ShopPutItemInput \{[^}]*path_id[^}]*query_body[^}]*query_id/,
    );
  });

  it('names what it adds to a route so that it differs from other routes and modules', () => {
    const text = generateClient(readClientModel(describeClashes()));
    const names = [...text.matchAll(/^ {2}(list\w*)\(/gm)].map(([, name]) => name);
    expect(names).to.deep.equal(['list', 'listPages_2', 'listPages', 'listPagesPages']);
    const folder = createFolder({ 'client.ts': text });
    expect(compile([join(folder, 'client.ts')], { lib: ['es2022'], types: [] })).to.deep.equal([]);
  }).timeout(60_000);

  it('compiles, and has its functions, for every name', async () => {
    const files = SPECIAL_NAMES.map((name) => {
      const text = generateClient(readClientModel(describeNamedModule(name)));
      const key = JSON.stringify(name);
      const use = [
        "import { createClient } from './client.js';",
        "export const client = createClient({ url: '' });",
        `const { ${key}: module } = client;`,
        `export const answer = module[${key}]({ [${key}]: 'a' });`,
        `export const first = answer.then((one) => one.ok && one.data.item?.[${key}]?.length);`,
      ].join('\n');
      const folder = createFolder({ 'client.ts': text, 'use.ts': use });
      return { name, text, use: join(folder, 'use.ts') };
    });
    const uses = files.map(({ use }) => use);
    expect(compile(uses, { lib: ['es2022', 'dom'], types: [] })).to.deep.equal([]);
    for (const { name, text } of files) {
      const { createClient } = await import(toModuleUrl(text));
      const client = createClient({ url: '' });
      expect(Object.keys(client), name).to.deep.equal([name]);
      expect(Object.keys(client[name]), name).to.deep.equal([name, `${name}Pages`, 'x']);
    }
  }).timeout(60_000);

  it('has one type for each structure of a module, and one for its errors', () => {
    const text = generateClient(readClientModel(REPEATED_DOCUMENT));
    const typeOf = (name: string) => new RegExp(`export type ${name} = (.*);`).exec(text)?.[1];
    expect(typeOf('ShopGetItemData')).to.equal('ShopItem');
    expect(typeOf('ShopPutItemData')).to.equal('ShopItem');
    expect(typeOf('ShopGetOtherData')).to.equal('ShopItem_2');
    expect(typeOf('CrmGetItemData')).to.equal('CrmItem');
    expect(text.match(/export interface ShopItem /g)).to.have.length(1);
    expect(text).to.contain('items?: ShopItem[];\n  tag?: ShopTag;');
    expect(text).to.contain('items?: ShopItem_2[];\n  tag?: ShopTag_2;');
    expect(typeOf('ShopPutItemError')).to.equal('ShopError');
    expect(text).to.contain('export type ShopError =\n  | Problem<"not_found", 404 | 410>');
  });

  it('has hostile texts of a document only in strings and comments', async () => {
    const folder = createFolder({});
    for (const [index, hostile] of HOSTILE.entries()) {
      const text = generateClient(readClientModel(describeHostile(hostile)));
      const file = join(folder, `client-${index}.ts`);
      writeFileSync(file, text);
      await import(toModuleUrl(text));
      expect(globalThis, hostile).to.not.have.property('injected');
    }
    const files = HOSTILE.map((_, index) => join(folder, `client-${index}.ts`));
    expect(compile(files, { lib: ['es2022', 'dom'], types: [] })).to.deep.equal([]);
  }).timeout(60_000);

  it('is made of a document whose references are malformed or form a circle', () => {
    const schemas = { A: { allOf: [{ $ref: '#/components/schemas/A' }] } };
    for (const reference of ['#/%', '#/components/schemas/%', '#/components/schemas/A', 'x']) {
      const json = { content: { 'application/json': { schema: { $ref: reference } } } };
      const get = { tags: ['shop'], operationId: 'shop.get', responses: { 200: json } };
      const document = { paths: { '/a': { get } }, components: { schemas } };
      expect(generateClient(readClientModel(document))).to.include('export type ShopGetData = ');
    }
  });

  it('has the digest in its header only', () => {
    const { version } = SAMPLE_DOCUMENT.info;
    expect(CLIENT).to.include(`// Digest: ${version}\n`);
    expect(withoutHeader(CLIENT)).not.to.include(version);
    expect(withoutHeader(CLIENT)).to.match(/^\ntype Global</);
  });
});
