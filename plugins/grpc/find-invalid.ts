import type { DescField, DescMessage, Registry } from '@bufbuild/protobuf';
import { describeItem, describeMessage, findField, hasOwnJson } from './message-fields.js';
import { readExactly } from './read-exactly.js';

/** A place in JSON that does not fit its message. */
export interface InvalidPlace {
  /** The members and indexes that lead to it. */
  readonly path: readonly (string | number)[];
  /** What was expected, without the value. */
  readonly reason: string;
}

/** As deep as the library reads messages. */
const MAX_DEPTH = 100;

/**
 * Finds the first member that does not fit; `null` if each fits by itself. The library's own errors name only the last
 * field, and contain values.
 */
export function findInvalid(
  message: DescMessage,
  json: unknown,
  registry: Registry,
  path: readonly (string | number)[] = [],
  depth = 0,
): InvalidPlace | null {
  const expected = { path, reason: `must be ${describeMessage(message)}` };
  if (hasOwnJson(message)) return isReadable(message, json, registry) ? null : expected;
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return expected;
  if (depth > MAX_DEPTH) return { path, reason: `must not be nested beyond ${MAX_DEPTH} levels` };
  const seen = new Set<unknown>();
  for (const [name, value] of Object.entries(json)) {
    const place = [...path, name];
    const field = findField(message, name);
    if (field === undefined)
      return { path: place, reason: `is not a member of ${message.typeName}` };
    if (seen.has(field)) return { path: place, reason: 'must not be named in both spellings' };
    seen.add(field);
    if (value === null) continue;
    if (field.oneof !== undefined) {
      if (seen.has(field.oneof)) {
        return { path: place, reason: `excludes other members of the oneof ${field.oneof.name}` };
      }
      seen.add(field.oneof);
    }
    const invalid = findInField({ message, field, name, registry }, value, place, depth);
    if (invalid !== null) return invalid;
  }
  return null;
}

interface Member {
  readonly message: DescMessage;
  readonly field: DescField;
  /** The spelling of the body. */
  readonly name: string;
  readonly registry: Registry;
}

function findInField(
  member: Member,
  value: unknown,
  path: readonly (string | number)[],
  depth: number,
): InvalidPlace | null {
  const { field } = member;
  const isList = field.fieldKind === 'list';
  if (isList !== Array.isArray(value) && (isList || field.fieldKind !== 'message')) {
    return { path, reason: `must be ${isList ? 'an array' : describeItem(field)}` };
  }
  if (!isList && field.fieldKind !== 'map') return findInItem(member, value, value, path, depth);
  if (typeof value !== 'object' || value === null) return { path, reason: 'must be an object' };
  const entries = Object.entries(value);
  const toPart = (part: readonly (readonly [string, unknown])[]) =>
    isList ? part.map(([, item]) => item) : Object.fromEntries(part);
  const toStep = (key: string) => (isList ? Number(key) : key);
  if (field.message === undefined) {
    const index = findFirst(entries.length, (count) =>
      isReadable(
        member.message,
        { [member.name]: toPart(entries.slice(0, count)) },
        member.registry,
      ),
    );
    const entry = entries[index];
    if (entry === undefined) return null;
    const [key] = entry;
    if (!isList && !isKey(member, key)) return { path, reason: BAD_KEYS };
    return { path: [...path, toStep(key)], reason: `must be ${describeItem(field)}` };
  }
  for (const entry of entries) {
    const [key, item] = entry;
    const invalid = findInItem(member, item, toPart([entry]), [...path, toStep(key)], depth);
    if (invalid !== null) return invalid;
  }
  if (isList) return null;
  // The items were read: only keys are, with others for messages, whose own maps would be read at each level.
  const isOwn = hasOwnJson(field.message);
  const keys = isOwn ? value : Object.fromEntries(entries.map(([key]) => [key, {}]));
  if (isReadable(member.message, { [member.name]: keys }, member.registry)) return null;
  return { path, reason: BAD_KEYS };
}

const BAD_KEYS = 'must have keys of its type';
/** Whether a map of single values may have the key. */
function isKey({ message, field, name, registry }: Member, key: string): boolean {
  // One of them fits each type.
  const values = [field.enum?.values[0]?.number ?? 0, '', false];
  return values.some((value) => isReadable(message, { [name]: { [key]: value } }, registry));
}

/** The index of the first item with which the items up to it are bad, by halves; `count` without one. */
function findFirst(count: number, isGood: (count: number) => boolean): number {
  if (isGood(count)) return count;
  let good = 0;
  let bad = count;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isGood(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** @param json the value of the field with this item alone */
function findInItem(
  { message, field, name, registry }: Member,
  item: unknown,
  json: unknown,
  path: readonly (string | number)[],
  depth: number,
): InvalidPlace | null {
  if (field.message !== undefined && item !== null) {
    return findInvalid(field.message, item, registry, path, depth + 1);
  }
  const isFitting = isReadable(message, { [name]: json }, registry);
  return isFitting ? null : { path, reason: `must be ${describeItem(field)}` };
}

function isReadable(message: DescMessage, json: unknown, registry: Registry): boolean {
  try {
    readExactly(message, json, registry);
    return true;
  } catch {
    return false;
  }
}
