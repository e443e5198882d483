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
import { create, createField } from './dom.js';
import { formatJson } from './json-text.js';

export interface ApiRequest {
  readonly method: string;
  /** Path and query, as on a request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Sends a request as the caller of the page. */
export type SendRequest = (request: ApiRequest) => Promise<Response>;

/** Longer responses are truncated. */
const MAX_SHOWN = 200_000;

interface Input {
  readonly place: string;
  readonly name: string;
  readonly isRest: boolean;
  readonly control: HTMLInputElement;
  /** The value of an empty control. */
  readonly createDefault: () => string;
}

/** A form that sends a request and shows its response. */
export function createTryIt(
  api: ApiDocument,
  entry: ApiOperation,
  send: SendRequest,
): HTMLFormElement {
  const inputs = createInputs(entry);
  const body = createBody(api, entry);
  const output = create('div', { class: 'response', role: 'status' });
  const button = create('button', { type: 'submit' }, 'Send');
  const fields = inputs.map(({ control, place, name }) =>
    createField(`${name} (${place})`, control),
  );
  const form = create(
    'form',
    { class: 'try-it' },
    ...fields,
    ...(body === null ? [] : [createField('Body', body)]),
    button,
    output,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    void showResponse(() => send(createRequest(entry, inputs, body)), output).finally(() => {
      button.disabled = false;
    });
  });
  return form;
}

function isKey(parameter: JsonObject): boolean {
  return parameter['in'] === 'header' && parameter['name'] === 'idempotency-key';
}

/** Also works without TLS, where `randomUUID` is missing. */
function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join(
    '',
  );
}

function createInputs({ parameters }: ApiOperation): Input[] {
  return parameters.map((parameter) => {
    const place = asText(parameter['in']);
    const isRequired = place === 'path' || parameter['required'] === true;
    return {
      place,
      name: asText(parameter['name']),
      isRest: parameter['x-modgate-rest'] === true,
      control: create('input', {
        type: 'text',
        required: isRequired && !isKey(parameter),
        placeholder: isKey(parameter) ? 'a new one for each call' : '',
        autocomplete: 'off',
      }),
      createDefault: isKey(parameter) ? createKey : () => '',
    };
  });
}

function createBody(api: ApiDocument, { operation }: ApiOperation): HTMLTextAreaElement | null {
  if (operation['requestBody'] === undefined) return null;
  const media = readMedia(api.follow(operation['requestBody']));
  const [first] = readExamples(api, media);
  const value = first === undefined ? createSample(api, media['schema']) : first[1];
  const area = create('textarea', { rows: '8', spellcheck: 'false', autocomplete: 'off' });
  area.value = JSON.stringify(value, null, 2) ?? '';
  return area;
}

/** @throws Error for an invalid path. */
function createRequest(
  { method, path }: ApiOperation,
  inputs: readonly Input[],
  body: HTMLTextAreaElement | null,
): ApiRequest {
  let target = path;
  const query: string[] = [];
  const headers: Record<string, string> = { accept: 'application/json' };
  for (const { place, name, isRest, control, createDefault } of inputs) {
    const value = control.value || createDefault();
    if (place === 'path') target = target.replace(`{${name}}`, () => encodeSegments(value, isRest));
    if (value === '') continue;
    if (place === 'query') query.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    if (place === 'header') headers[name.toLowerCase()] = value;
  }
  const text = body === null || body.value.trim() === '' ? null : body.value;
  if (text !== null) headers['content-type'] = 'application/json';
  return {
    method,
    target: query.length === 0 ? target : `${target}?${query.join('&')}`,
    headers,
    body: text,
  };
}

/** Encodes `.` and `..`, which a browser would remove and so call another route. */
function encodeSegments(value: string, isRest: boolean): string {
  const segments = isRest ? value.split('/') : [value];
  if (segments.some((segment) => /^\.{0,2}$/.test(segment))) {
    throw new Error('a path parameter must have no empty segment, . or ..');
  }
  return segments.map(encodeURIComponent).join('/');
}

async function showResponse(send: () => Promise<Response>, output: HTMLElement): Promise<void> {
  output.replaceChildren('sending …');
  const startedAt = performance.now();
  try {
    const response = await send();
    const text = await response.text();
    const durationMs = Math.round(performance.now() - startedAt);
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    output.replaceChildren(
      create(
        'p',
        {},
        [response.status, asText(asObject(parse(text))['title']), `in ${durationMs} ms`]
          .filter((part) => part !== '')
          .join(' '),
      ),
      create('pre', { class: 'headers' }, headers.join('\n')),
      create('pre', {}, shorten(formatJson(text))),
    );
  } catch (error) {
    output.replaceChildren(create('p', {}, `no response: ${(error as Error).message}`));
  }
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN
    ? text
    : `${text.slice(0, MAX_SHOWN)}\n… ${text.length} characters`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Creates an initial value: the required members of an object, with the example or default of each.
 */
function createSample(api: ApiDocument, schema: unknown, depth = 0): unknown {
  const followed = api.follow(schema);
  const { type, enum: values, examples, default: value } = followed;
  const [example = value] = asList(examples);
  if (example !== undefined) return example;
  if ('const' in followed) return followed['const'];
  if (Array.isArray(values)) return values[0];
  const [alternative] = [...asList(followed['anyOf']), ...asList(followed['oneOf'])];
  if (alternative !== undefined && depth < 5) return createSample(api, alternative, depth + 1);
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'array':
      return [];
  }
  const properties = asObject(followed['properties']);
  const names = asList(followed['required']).filter((name) => typeof name === 'string');
  if (depth >= 5) return {};
  return Object.fromEntries(
    names.map((name) => [name, createSample(api, properties[name], depth + 1)]),
  );
}
