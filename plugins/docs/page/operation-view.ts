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
import { createSchemaView, describeType } from './schema-view.js';
import { createTryIt, type SendRequest } from './try-it.js';

/** One operation, closed: its content is created when it is opened. */
export function createOperationView(
  api: ApiDocument,
  entry: ApiOperation,
  send: SendRequest,
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
    () => createContent(api, entry, send),
    { class: 'operation' },
  );
}

function createContent(api: ApiDocument, entry: ApiOperation, send: SendRequest): HTMLElement[] {
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
    createTryIt(api, entry, send),
  ];
}

function title(text: string): HTMLElement {
  return create('h3', {}, text);
}

function createRights({ security }: JsonObject): HTMLElement[] {
  const scopes = asList(security).flatMap((one) => Object.values(asObject(one)).flatMap(asList));
  const names = [...new Set(scopes.map(String))];
  if (names.length === 0) return [];
  return [create('p', {}, 'Needs ', create('code', {}, names.join(', ')))];
}

function createParameters(api: ApiDocument, parameters: readonly JsonObject[]): HTMLElement {
  const rows = parameters.map((parameter) => {
    const { name, in: place, required, schema, description } = parameter;
    const text = asText(description) || asText(api.follow(schema)['description']);
    return create(
      'tr',
      {},
      create('td', {}, create('code', {}, asText(name))),
      create('td', {}, asText(place)),
      create('td', {}, create('code', {}, describeType(api, schema))),
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
