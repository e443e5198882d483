import type { ActionInputField, AdminAction, FieldType } from '../../contract/index.js';
import { isPrintableKey, MAX_DIAGNOSTICS } from '../../document/diagnostic.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import { findRepeatedMember } from '../../lib/json/json-structure.js';
import { isDay } from '../../lib/parse-time.js';
import { isMapping } from '../../lib/read-member.js';

// RFC 3339 5.6 and 5.7 with leap seconds. isTimestamp checks that the day exists.
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const TYPES: Readonly<Record<FieldType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  // Integers may have any size: the provider receives the client's digits.
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  timestamp: isTimestamp,
  json: () => true,
};

function isTimestamp(value: unknown): boolean {
  const day = typeof value === 'string' ? TIMESTAMP.exec(value)?.[1] : undefined;
  return day !== undefined && isDay(day);
}

/** The input, or the default of an absent one: `{}` for an action with a schema, otherwise `null`. */
export function completeInput({ input_schema }: AdminAction, input: unknown): unknown {
  if (input !== undefined) return input;
  return input_schema === undefined ? null : {};
}

/**
 * Validates an input against the action's schema; without a schema any input is valid.
 * @param place its name in the request, such as `payload.input`
 * @throws HostError 400 that names each missing, undeclared or mistyped field.
 */
export function validateInput({ input_schema }: AdminAction, input: unknown, place: string): void {
  const errors = input_schema === undefined ? [] : findErrors(input_schema.fields, input, place);
  if (errors.length === 0) return;
  const detail = 'the input does not fit the schema of the action';
  throw new HostError('validation_failed', detail, { errors });
}

/**
 * Rejects what a provider may read otherwise: it receives the bytes, and may use the first of two
 * members with the same name.
 * @throws HostError 400 that names a repeated member, at any depth.
 */
export function assertNoRepeatedMember(input: unknown, json: Buffer, place: string): void {
  const repeated = findRepeatedMember(json, input);
  if (repeated === null) return;
  const name = repeated.map((key) => (isPrintableKey(String(key)) ? key : '?')).join('.');
  throw new HostError('validation_failed', 'the input has two members of one name', {
    errors: [createInputError(place, name, 'repeated')],
  });
}

function findErrors(
  fields: readonly ActionInputField[],
  input: unknown,
  place: string,
): ErrorDetail[] {
  if (!isMapping(input)) {
    return [{ field: place, reason: 'expected an object' }];
  }
  const declared = new Set(fields.map(({ name }) => name));
  const undeclared = Object.keys(input).filter((name) => !declared.has(name));
  return [
    ...undeclared
      .slice(0, MAX_DIAGNOSTICS)
      .map((name) =>
        createInputError(place, isPrintableKey(name) ? name : '?', 'not declared by the action'),
      ),
    ...fields.flatMap((field) => validateField(field, input, place)),
  ];
}

function validateField(field: ActionInputField, input: object, place: string): ErrorDetail[] {
  const { name, type, required = false, nullable = false } = field;
  if (!Object.hasOwn(input, name))
    return required ? [createInputError(place, name, 'missing')] : [];
  const value: unknown = Reflect.get(input, name);
  if (value === null && nullable) return [];
  return TYPES[type](value) ? [] : [createInputError(place, name, `expected ${type}`)];
}

function createInputError(place: string, name: string, reason: string): ErrorDetail {
  return { field: `${place}.${name}`, reason };
}
