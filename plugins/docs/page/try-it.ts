import {
  type ApiDocument,
  type ApiOperation,
  asObject,
  asText,
  type JsonObject,
} from './api-document.js';
import { type BodyField, createBodyField } from './body-field.js';
import { create, createField } from './dom.js';
import { parseJson } from './json-text.js';
import { showResponse } from './response-view.js';

export interface ApiRequest {
  readonly method: string;
  /** Path and query, as on a request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob | string | null;
  readonly signal?: AbortSignal;
}

/** Sends a request as the caller of the page. */
export type SendRequest = (request: ApiRequest) => Promise<Response>;

interface Input {
  readonly place: string;
  readonly name: string;
  /** Writes a value of the query as pairs. */
  readonly writePairs: (value: string) => readonly (readonly [name: string, value: string])[];
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
  const inputs = createInputs(api, entry);
  const body = createBodyField(api, entry);
  const output = create('div', { class: 'response', role: 'status' });
  const button = create('button', { type: 'submit' }, 'Send');
  const stop = create('button', { type: 'button', disabled: true }, 'Stop');
  const fields = inputs.map(({ control, place, name }) =>
    createField(`${name} (${place})`, control),
  );
  const form = create('form', { class: 'try-it' }, ...fields, ...body.fields, button, stop, output);
  const success = readSuccess(api, entry);
  const shown = {
    hasLines: success['x-modgate-stream'] === 'ndjson',
    isBytes: success['x-modgate-bytes'] === true,
  };
  let controller = new AbortController();
  const setSending = (isSending: boolean) => {
    button.disabled = isSending;
    stop.disabled = !isSending;
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    setSending(true);
    controller = new AbortController();
    const { signal } = controller;
    const accept = listTypes(api, entry);
    const sendNow = () => send({ ...createRequest(entry, inputs, body, accept), signal });
    void showResponse(sendNow, output, shown).finally(() => setSending(false));
  });
  stop.addEventListener('click', () => controller.abort());
  return form;
}

/** The response that a call has when it succeeds. */
function readSuccess(api: ApiDocument, { operation }: ApiOperation): JsonObject {
  return api.follow(asObject(operation['responses'])['200']);
}

/** The media types of a successful response, which `accept` has to name for a stream. */
function listTypes(api: ApiDocument, entry: ApiOperation): string {
  const types = Object.keys(asObject(readSuccess(api, entry)['content']));
  return types.join(', ') || 'application/json';
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

/** Writes an object in the style of its parameter, and any other value as one text. */
function writePairs(
  api: ApiDocument,
  parameter: JsonObject,
  text: string,
): readonly (readonly [string, string])[] {
  const { style = 'form', schema, content } = parameter;
  const { explode = style === 'form' } = parameter;
  const name = asText(parameter['name']);
  const isObject = style === 'deepObject' || api.follow(schema)['type'] === 'object';
  const value = isObject && content === undefined ? Object.entries(asObject(parseJson(text))) : [];
  if (value.length === 0) return [[name, text]];
  const members = value.flatMap(([key, member]) =>
    [member].flat().map((one) => [key, toText(one)] as const),
  );
  if (style === 'deepObject') return members.map(([key, member]) => [`${name}[${key}]`, member]);
  return explode === true ? members : [[name, members.flat().join(',')]];
}

function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function createInputs(api: ApiDocument, { parameters }: ApiOperation): Input[] {
  return parameters.map((parameter) => {
    const place = asText(parameter['in']);
    const isRequired = place === 'path' || parameter['required'] === true;
    return {
      place,
      name: asText(parameter['name']),
      writePairs: (value) => writePairs(api, parameter, value),
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

/** @throws Error for an invalid path. */
function createRequest(
  { method, path }: ApiOperation,
  inputs: readonly Input[],
  body: BodyField,
  accept: string,
): ApiRequest {
  let target = path;
  const query: string[] = [];
  const headers: Record<string, string> = { accept };
  for (const { place, name, writePairs, isRest, control, createDefault } of inputs) {
    const value = control.value || createDefault();
    if (place === 'path') target = target.replace(`{${name}}`, () => encodeSegments(value, isRest));
    if (value === '') continue;
    if (place === 'query') {
      query.push(...writePairs(value).map((pair) => pair.map(encodeURIComponent).join('=')));
    }
    if (place === 'header') headers[name.toLowerCase()] = value;
  }
  const content = body.read();
  if (content !== null && body.type() !== '') headers['content-type'] = body.type();
  return {
    method,
    target: query.length === 0 ? target : `${target}?${query.join('&')}`,
    headers,
    body: content,
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
