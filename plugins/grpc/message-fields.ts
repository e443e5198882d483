import { type DescField, type DescMessage, type Registry, ScalarType } from '@bufbuild/protobuf';
import { isWrapperDesc } from '@bufbuild/protobuf/wkt';

/** Messages whose JSON is not an object of their fields. */
const OWN_JSON: Readonly<Record<string, string>> = {
  'google.protobuf.Timestamp': 'a time such as 2026-01-31T12:00:00Z',
  'google.protobuf.Duration': 'a duration such as 1.5s',
  'google.protobuf.FieldMask': 'paths of fields, separated by commas',
  'google.protobuf.Struct': 'an object',
  'google.protobuf.Value': 'any JSON',
  'google.protobuf.ListValue': 'an array',
  'google.protobuf.Any': "an object with '@type', the URL of a known message",
};

const EXPECTED: Readonly<Partial<Record<ScalarType, string>>> = {
  [ScalarType.STRING]: 'text',
  [ScalarType.BOOL]: 'true or false',
  [ScalarType.BYTES]: 'bytes in base64',
  [ScalarType.DOUBLE]: 'a number',
  [ScalarType.FLOAT]: 'a number of type float',
};

/** Whether the JSON of a message is not an object of its fields. */
export function hasOwnJson(message: DescMessage): boolean {
  return message.typeName in OWN_JSON || isWrapperDesc(message);
}

const fieldsByName = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

/** Finds a field by its name in the `.proto` file or in JSON. */
export function findField(message: DescMessage, name: string): DescField | undefined {
  let fields = fieldsByName.get(message);
  if (fields === undefined) {
    const named = message.fields.flatMap((field) => [
      [field.jsonName, field] as const,
      [field.name, field] as const,
    ]);
    // Of two fields with one name the first counts.
    fields = new Map(named.reverse());
    fieldsByName.set(message, fields);
  }
  return fields.get(name);
}

/** The fields from a message to the one that `a.b.c` names; `null` without them. */
export function findFieldPath(message: DescMessage, path: string): DescField[] | null {
  const fields: DescField[] = [];
  let inner: DescMessage | undefined = message;
  for (const name of path.split('.')) {
    const field: DescField | undefined = inner && findField(inner, name);
    if (field === undefined) return null;
    fields.push(field);
    inner = field.fieldKind === 'message' ? field.message : undefined;
  }
  return fields;
}

/** What JSON for a message must be, for diagnostics: `must be …`. */
export function describeMessage(message: DescMessage): string {
  const [value] = message.fields;
  if (isWrapperDesc(message) && value !== undefined) return describeItem(value);
  return OWN_JSON[message.typeName] ?? 'an object';
}

/** What JSON for one value of a field must be. */
export function describeItem(field: DescField): string {
  if (field.message !== undefined) return describeMessage(field.message);
  if (field.enum !== undefined) return `the name of a value of ${field.enum.typeName}`;
  const { scalar } = field;
  if (scalar === undefined) return 'a value';
  return EXPECTED[scalar] ?? `an integer of type ${ScalarType[scalar]?.toLowerCase()}`;
}

/** Types whose JSON is not a number; `undefined` is not a scalar. */
export const NOT_NUMBERS: ReadonlySet<ScalarType | undefined> = new Set([
  ScalarType.STRING,
  ScalarType.BYTES,
  ScalarType.BOOL,
  undefined,
]);

/** Whether JSON for a value of the field may be a number, or a text with its digits. */
function isNumeric(field: DescField): boolean {
  const value = field.message !== undefined && isWrapperDesc(field.message);
  return !NOT_NUMBERS.has(value ? field.message?.fields[0]?.scalar : field.scalar);
}

type Members = Record<string, unknown>;

/**
 * Replaces marked texts, in place, by their digits where the message has a number, and otherwise by the number.
 * @param field `null` for JSON without fields
 * @param isEntry whether it is a value of the map that `field` is
 */
export function restoreNumbers(
  value: unknown,
  field: DescField | null,
  { mark, registry }: MarkedNumbers,
  isEntry = false,
): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(mark)) return value;
    const digits = value.slice(mark.length);
    return field !== null && isNumeric(field) ? digits : Number(digits);
  }
  if (Array.isArray(value)) {
    return value.map((item) => restoreNumbers(item, field, { mark, registry }));
  }
  if (typeof value !== 'object' || value === null) return value;
  const isMap = field?.fieldKind === 'map' && !isEntry;
  if (!isMap) restoreMembers(value as Members, field?.message, { mark, registry });
  else
    replaceMembers(value as Members, (_, each) =>
      restoreNumbers(each, field, { mark, registry }, true),
    );
  return value;
}

/** How texts are marked, and the messages that an `Any` may contain. */
export interface MarkedNumbers {
  readonly mark: string;
  readonly registry: Registry;
}

/** @param message `undefined` for an object without fields */
export function restoreMembers(
  members: Members,
  message: DescMessage | undefined,
  marked: MarkedNumbers,
): void {
  const content = message && findContent(message, members, marked.registry);
  replaceMembers(members, (name, value) =>
    restoreNumbers(value, (content && findField(content, name)) ?? null, marked),
  );
}

function replaceMembers(
  members: Members,
  replace: (name: string, value: unknown) => unknown,
): void {
  for (const [name, value] of Object.entries(members)) {
    // Also for one that is called `__proto__`.
    const others = { writable: true, enumerable: true, configurable: true };
    Object.defineProperty(members, name, { value: replace(name, value), ...others });
  }
}

/** The message within an `Any`, which its JSON names. */
export function findContent(
  message: DescMessage,
  { '@type': url }: Readonly<Members>,
  registry: Registry,
): DescMessage | undefined {
  if (message.typeName !== 'google.protobuf.Any') return message;
  return typeof url === 'string'
    ? registry.getMessage(url.slice(url.lastIndexOf('/') + 1))
    : undefined;
}
