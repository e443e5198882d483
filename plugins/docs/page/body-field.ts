import {
  type ApiDocument,
  type ApiOperation,
  asList,
  asObject,
  type JsonObject,
  readExamples,
  readMedia,
} from './api-document.js';
import { create, createField } from './dom.js';

const JSON_TYPE = 'application/json';
const BYTES_TYPE = 'application/octet-stream';

export interface BodyField {
  readonly fields: readonly HTMLElement[];
  /** `null` for no body. A chosen file is sent instead of a text. */
  read(): File | string | null;
  /** The content type; empty for that of the file. */
  type(): string;
}

/** Creates a text for JSON, a file for other types, and both where a route takes both. */
export function createBodyField(api: ApiDocument, { operation }: ApiOperation): BodyField {
  const body = api.follow(operation['requestBody']);
  const types = Object.keys(asObject(body['content']));
  const isBytes = body['x-modgate-bytes'] === true;
  const area = !isBytes && types.includes(JSON_TYPE) ? createArea(api, readMedia(body)) : null;
  const fields = area === null ? [] : [createField('Body', area)];
  const readText = () => (area === null || area.value.trim() === '' ? null : area.value);
  if (!isBytes && types.every((type) => type === JSON_TYPE)) {
    return { fields, read: readText, type: () => JSON_TYPE };
  }
  const file = create('input', { type: 'file' });
  const type = createTypeControl(types, file);
  const names = types.join(', ');
  return {
    fields: [...fields, createField('File', file), createField('Content type', type, names)],
    read: () => file.files?.[0] ?? readText(),
    type: () => type.value.trim(),
  };
}

/** A text for the content type, which follows the chosen file where the route takes its type. */
function createTypeControl(types: readonly string[], file: HTMLInputElement): HTMLInputElement {
  const [first = BYTES_TYPE] = types.filter((type) => !type.includes('*'));
  const control = create('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
  control.value = first;
  file.addEventListener('change', () => {
    const chosen = file.files?.[0]?.type ?? '';
    control.value = types.some((type) => matches(type, chosen)) ? chosen : first;
  });
  return control;
}

/** @param type a media type, or a range such as `image/*` */
function matches(type: string, chosen: string): boolean {
  if (chosen === '') return false;
  if (type === '*/*' || type === chosen) return true;
  return type.endsWith('/*') && chosen.startsWith(type.slice(0, -1));
}

function createArea(api: ApiDocument, media: JsonObject): HTMLTextAreaElement {
  const [first] = readExamples(api, media);
  const value = first === undefined ? createSample(api, media['schema']) : first[1];
  const area = create('textarea', { rows: '8', spellcheck: 'false', autocomplete: 'off' });
  area.value = JSON.stringify(value, null, 2) ?? '';
  return area;
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
