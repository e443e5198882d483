import {
  type ApiDocument,
  type ApiOperation,
  asObject,
  asText,
  type JsonObject,
} from './api-document.js';
import { create, createField } from './dom.js';
import { parseJson } from './json-text.js';

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

/** The controls of the parameters of a request. */
export interface RequestInputs {
  readonly fields: readonly HTMLElement[];
  /** @throws Error for an invalid path. */
  read(): { readonly target: string; readonly headers: Readonly<Record<string, string>> };
}

export function createRequestInputs(api: ApiDocument, entry: ApiOperation): RequestInputs {
  const inputs = createInputs(api, entry);
  return {
    fields: inputs.map(({ control, place, name }) => createField(`${name} (${place})`, control)),
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
