import type { Context } from 'superstruct';
import type { AnyStruct } from '../contract/described.js';

/** Returned for a value that may be invalid: superstruct decides, and says why. */
export const UNDECIDED = Symbol('undecided');

type Reader = (value: unknown, context: Context) => unknown;
type Members = Record<string | number, unknown>;

const readers = new WeakMap<AnyStruct, Reader>();

/**
 * Returns a valid value with the struct's defaults, as `struct.validate` does. Superstruct runs
 * four generators for each member that a mapping may have; here, an absent one costs nothing.
 */
export function readValid(value: unknown, struct: AnyStruct): unknown {
  return readerOf(struct)(value, { path: [], branch: [value], mask: false });
}

function readerOf(struct: AnyStruct): Reader {
  const known = readers.get(struct);
  if (known !== undefined) return known;
  const reader = createReader(struct);
  readers.set(struct, reader);
  return reader;
}

function createReader(struct: AnyStruct): Reader {
  const readMembers = createMembersReader(struct);
  return (given, context) => {
    const coerced = struct.coercer(given, context);
    if (!isEmpty(struct.validator(coerced, context))) return UNDECIDED;
    const value = readMembers(coerced, context);
    if (value === UNDECIDED || !isEmpty(struct.refiner(value, context))) return UNDECIDED;
    return value;
  };
}

/** Reads a value whose members get their defaults. */
function createMembersReader(struct: AnyStruct): Reader {
  const { type, schema } = struct;
  if (type === 'object' && schema !== null) return createMappingReader(schema);
  if (type === 'array' && schema) return createListReader(schema);
  return (value, context) => {
    for (const [key, member, child] of struct.entries(value, context)) {
      // Superstruct stores members of maps and sets in its own way.
      const isPlain = isMembers(value) && !(value instanceof Map || value instanceof Set);
      if (!isPlain || key === undefined) return UNDECIDED;
      if (!readMember(value, key, member, child as AnyStruct, context)) return UNDECIDED;
    }
    return value;
  };
}

function createListReader(struct: AnyStruct): Reader {
  return (value, context) => {
    if (!Array.isArray(value)) return value;
    for (let index = 0; index < value.length; index += 1) {
      if (!readMember(value as never, index, value[index], struct, context)) return UNDECIDED;
    }
    return value;
  };
}

function createMappingReader(schema: Readonly<Record<string, AnyStruct>>): Reader {
  const members = Object.entries(schema).map(([key, struct]) => {
    return { key, struct, absent: NOT_READ as unknown };
  });
  return (given, context) => {
    if (!isMembers(given)) return given;
    if (Object.hasOwn(given, '__proto__')) return UNDECIDED;
    // V8 gives each spread that members are added to, as superstruct does, a structure of its own.
    const isPlain = Object.getPrototypeOf(given) === Object.prototype;
    const value = isPlain ? Object.assign({}, given) : given;
    for (const key of Object.keys(value)) if (!Object.hasOwn(schema, key)) return UNDECIDED;
    for (const member of members) {
      const { key, struct } = member;
      if (!(key in value)) {
        if (member.absent === NOT_READ) member.absent = readAbsent(struct);
        if (member.absent === undefined) continue;
        if (member.absent !== UNDECIDED) {
          value[key] = member.absent;
          continue;
        }
      }
      if (!readMember(value, key, value[key], struct, context)) return UNDECIDED;
    }
    return value;
  };
}

const NOT_READ = Symbol('not read');

/** What an absent member always becomes; `UNDECIDED` if it depends on its place or is an object. */
function readAbsent(struct: AnyStruct): unknown {
  try {
    const value = readerOf(struct)(undefined, NO_CONTEXT);
    return typeof value === 'object' ? UNDECIDED : value;
  } catch {
    return UNDECIDED;
  }
}

/** Throws when its place is read, as references do, which the host must find each time. */
const NO_CONTEXT = new Proxy<Context>(
  { path: [], branch: [] },
  {
    get(_target, key) {
      if (key !== 'mask') throw new Error('the value depends on its place');
    },
  },
);

function readMember(
  parent: Members,
  key: string | number,
  member: unknown,
  struct: AnyStruct,
  context: Context,
): boolean {
  context.path.push(key);
  context.branch.push(member);
  const value = readerOf(struct)(member, context);
  context.path.pop();
  context.branch.pop();
  if (value === UNDECIDED) return false;
  if (value !== undefined || key in parent) parent[key] = value;
  return true;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

function isEmpty(failures: Iterable<unknown>): boolean {
  return failures[Symbol.iterator]().next().done === true;
}
