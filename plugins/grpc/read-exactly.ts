import {
  type DescField,
  type DescMessage,
  fromJson,
  type Message,
  type Registry,
  ScalarType,
} from '@bufbuild/protobuf';
import { isWrapperDesc } from '@bufbuild/protobuf/wkt';
import { findContent, findField, hasOwnJson, NOT_NUMBERS } from './message-fields.js';

/** A number of JSON. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NOT_FINITE: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);
/** Base64, also for URLs. */
const BASE64 = /^[\w+/-]*={0,2}$/;
const BASE64_GROUP = 4;
const DATE_AND_HOUR = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):/;
const ANY_JSON: ReadonlySet<string> = new Set(
  ['Struct', 'Value', 'ListValue'].map((name) => `google.protobuf.${name}`),
);

/**
 * Reads a message, except from JSON that the library reads as another value: base64 with a blank, numbers such as
 * `0x10`, days such as February 30, and numbers beyond a double.
 * @throws Error for JSON that does not fit.
 */
export function readExactly(message: DescMessage, json: unknown, registry: Registry): Message {
  const read = fromJson(message, json as never, { registry });
  if (!isExact(message, json, registry)) throw new Error('the JSON means another value');
  return read;
}

/** @param json what the library reads as the message */
function isExact(message: DescMessage, json: unknown, registry: Registry): boolean {
  if (json === null) return true;
  const [value] = message.fields;
  if (isWrapperDesc(message) && value !== undefined) return isExactItem(value, json, registry);
  if (message.typeName === 'google.protobuf.Timestamp') return isTime(String(json));
  if (ANY_JSON.has(message.typeName)) return hasFiniteNumbers(json);
  if (typeof json !== 'object') return true;
  const members = json as Readonly<Record<string, unknown>>;
  const content = findContent(message, members, registry);
  if (content === undefined) return true;
  if (content !== message && hasOwnJson(content)) {
    return isExact(content, members['value'], registry);
  }
  return Object.entries(members).every(([name, member]) => {
    const field = findField(content, name);
    return field === undefined || isExactMember(field, member, registry);
  });
}

function isExactMember(field: DescField, json: unknown, registry: Registry): boolean {
  const isExactValue = (item: unknown) => isExactItem(field, item, registry);
  if (Array.isArray(json) && field.fieldKind === 'list') return json.every(isExactValue);
  if (field.fieldKind !== 'map' || json === null) return isExactValue(json);
  const hasNumbers = !NOT_NUMBERS.has(field.mapKey);
  return Object.entries(json as object).every(
    ([key, item]) => (!hasNumbers || NUMBER.test(key)) && isExactValue(item),
  );
}

/** @param json one value of the field */
function isExactItem(field: DescField, json: unknown, registry: Registry): boolean {
  if (field.message !== undefined) return isExact(field.message, json, registry);
  if (typeof json !== 'string') return true;
  if (field.scalar === ScalarType.BYTES) return isBase64(json);
  return NOT_NUMBERS.has(field.scalar) || NUMBER.test(json) || NOT_FINITE.has(json);
}

function isBase64(text: string): boolean {
  return BASE64.test(text) && (!text.endsWith('=') || text.length % BASE64_GROUP === 0);
}

/** Whether its day and hour exist. */
function isTime(text: string): boolean {
  const [, day = ''] = DATE_AND_HOUR.exec(text) ?? [];
  return day !== '' && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function hasFiniteNumbers(json: unknown): boolean {
  if (typeof json === 'number') return Number.isFinite(json);
  return typeof json !== 'object' || json === null || Object.values(json).every(hasFiniteNumbers);
}
