import {
  type ApiDocument,
  type ApiOperation,
  asList,
  asObject,
  asText,
  type JsonObject,
} from './api-document.js';
import { create, createField } from './dom.js';
import { parseJson } from './json-text.js';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

interface Input {
  readonly place: string;
  readonly name: string;
  /** Writes a value of the query as pairs. */
  readonly writePairs: (value: string) => readonly (readonly [name: string, value: string])[];
  readonly isRest: boolean;
  readonly control: Control;
  readonly hint: string;
  /** The value of an empty control. */
  readonly createDefault: () => string;
}

/** The controls of the parameters of a request. */
export interface RequestInputs {
  readonly fields: readonly HTMLElement[];
  /** @throws Error for an invalid path. */
  read(): { readonly target: string; readonly headers: Readonly<Record<string, string>> };
}

export function createRequestInputs(api: ApiDocument, entry: ApiOperation): RequestInputs {
  const inputs = createInputs(api, entry);
  return {
    fields: inputs.map(({ control, place, name, hint }) =>
      createField(`${name} (${place})`, control, hint),
    ),
    read: () => readInputs(entry, inputs),
  };
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

/** Whether the values of a parameter of the query are the items of a list. */
function isList(schema: JsonObject, { in: place, content }: JsonObject): boolean {
  return place === 'query' && content === undefined && [schema['type']].flat().includes('array');
}

const SEPARATORS: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|' };

/** Writes a list or an object in the style of its parameter, and any other value as one text. */
function writePairs(
  parameter: JsonObject,
  schema: JsonObject,
  text: string,
): readonly (readonly [string, string])[] {
  const { style = 'form', content } = parameter;
  const { explode = style === 'form' } = parameter;
  const name = asText(parameter['name']);
  if (isList(schema, parameter)) {
    const items = text.split('\n').filter((line) => line !== '');
    if (explode === true) return items.map((item) => [name, item]);
    return [[name, items.join(SEPARATORS[asText(style)] ?? ',')]];
  }
  const isObject = style === 'deepObject' || schema['type'] === 'object';
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
    const schema = api.follow(parameter['schema']);
    const { default: value } = schema;
    return {
      place: asText(parameter['in']),
      name: asText(parameter['name']),
      writePairs: (text) => writePairs(parameter, schema, text),
      isRest: parameter['x-modgate-rest'] === true,
      control: createControl(parameter, schema),
      hint: value === undefined ? '' : `default: ${toText(value)}`,
      createDefault: isKey(parameter) ? createKey : () => '',
    };
  });
}

/** One of the listed values, a line for each item of a list, or any text. */
function createControl(parameter: JsonObject, schema: JsonObject): Control {
  const required = parameter['in'] === 'path' || parameter['required'] === true;
  const values = schema['type'] === 'boolean' ? [true, false] : asList(schema['enum']);
  if (values.length > 0 && values.every((value) => typeof value !== 'object')) {
    const options = ['', ...values.map(toText)].map((value) => create('option', { value }, value));
    return create('select', { required }, ...options);
  }
  if (isList(schema, parameter)) {
    const placeholder = 'one item in each line';
    return create('textarea', { rows: '2', required, placeholder, spellcheck: 'false' });
  }
  return create('input', {
    type: 'text',
    required: required && !isKey(parameter),
    placeholder: isKey(parameter) ? 'a new one for each call' : '',
    autocomplete: 'off',
  });
}

function readInputs({ path }: ApiOperation, inputs: readonly Input[]) {
  let target = path;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  for (const { place, name, writePairs, isRest, control, createDefault } of inputs) {
    const value = control.value || createDefault();
    if (place === 'path') target = target.replace(`{${name}}`, () => encodeSegments(value, isRest));
    if (value === '') continue;
    if (place === 'query') {
      query.push(...writePairs(value).map((pair) => pair.map(encodeURIComponent).join('=')));
    }
    if (place === 'header') headers[name.toLowerCase()] = value;
  }
  return { target: query.length === 0 ? target : `${target}?${query.join('&')}`, headers };
}

/** Encodes `.` and `..`, which a browser would remove and so call another route. */
function encodeSegments(value: string, isRest: boolean): string {
  const segments = isRest ? value.split('/') : [value];
  if (segments.some((segment) => /^\.{0,2}$/.test(segment))) {
    throw new Error('a path parameter must have no empty segment, . or ..');
  }
  return segments.map(encodeURIComponent).join('/');
}
