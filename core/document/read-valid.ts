import type { Context } from 'superstruct';
import { keepCanonicalText } from '../contract/canonical-value.js';
import type { AnyStruct } from '../contract/described.js';

/** Returned for a value that may be invalid: superstruct decides, and says why. */
export const UNDECIDED = Symbol('undecided');

type Reader = (value: unknown, context: Context) => unknown;
type Members = Record<string | number, unknown>;

type Readers = WeakMap<AnyStruct, Reader>;

/** Of values whose defaults are objects of their own, as those of plugins: a plugin may change its config. */
const ownReaders: Readers = new WeakMap();
/** Of values that share their defaults. */
const sharingReaders: Readers = new WeakMap();
const sharing = new WeakSet<AnyStruct>();

/**
 * Lets all values of a struct share the objects and lists that are their defaults, frozen. Only for values
 * of which no part is changed. Thousands of descriptors have the same defaults.
 */
export function shareDefaults<S extends AnyStruct>(struct: S): S {
  sharing.add(struct);
  return struct;
}

/**
 * Returns a valid value with the struct's defaults, as `struct.validate` does. Superstruct runs
 * four generators for each member that a mapping may have; here, an absent one costs nothing.
 */
export function readValid(value: unknown, struct: AnyStruct): unknown {
  const readers = sharing.has(struct) ? sharingReaders : ownReaders;
  return readerOf(struct, readers)(value, { path: [], branch: [value], mask: false });
}

function readerOf(struct: AnyStruct, readers: Readers): Reader {
  const known = readers.get(struct);
  if (known !== undefined) return known;
  const reader = createReader(struct, readers);
  readers.set(struct, reader);
  return reader;
}

function createReader(struct: AnyStruct, readers: Readers): Reader {
  const readMembers = createMembersReader(struct, readers);
  return (given, context) => {
    const coerced = struct.coercer(given, context);
    if (!isEmpty(struct.validator(coerced, context))) return UNDECIDED;
    const value = readMembers(coerced, context);
    if (value === UNDECIDED || !isEmpty(struct.refiner(value, context))) return UNDECIDED;
    return value;
  };
}

/** Reads a value whose members get their defaults. */
function createMembersReader(struct: AnyStruct, readers: Readers): Reader {
  const { type, schema } = struct;
  if ((type === 'object' || type === 'type') && schema !== null) {
    return createMappingReader(schema, type === 'type', readers);
  }
  if (type === 'array' && schema) return createListReader(schema, readers);
  return (value, context) => {
    for (const [key, member, child] of struct.entries(value, context)) {
      // Superstruct stores members of maps and sets in its own way.
      const isPlain = isMembers(value) && !(value instanceof Map || value instanceof Set);
      if (!isPlain || key === undefined) return UNDECIDED;
      const read = readerOf(child as AnyStruct, readers);
      if (!readMember(value, key, member, read, context)) return UNDECIDED;
    }
    return value;
  };
}

function createListReader(struct: AnyStruct, readers: Readers): Reader {
  return (value, context) => {
    if (!Array.isArray(value)) return value;
    const read = readerOf(struct, readers);
    for (let index = 0; index < value.length; index += 1) {
      if (!readMember(value as never, index, value[index], read, context)) return UNDECIDED;
    }
    return value;
  };
}

/** @param isOpen whether it may have other members */
function createMappingReader(
  schema: Readonly<Record<string, AnyStruct>>,
  isOpen: boolean,
  readers: Readers,
): Reader {
  const members = Object.entries(schema).map(([key, struct]) => {
    return { key, struct, absent: NOT_READ as unknown };
  });
  return (given, context) => {
    if (!isMembers(given)) return given;
    if (Object.hasOwn(given, '__proto__')) return UNDECIDED;
    // V8 gives each spread that members are added to, as superstruct does, a structure of its own.
    const isPlain = Object.getPrototypeOf(given) === Object.prototype;
    const value = isPlain ? Object.assign({}, given) : given;
    if (!isOpen) {
      for (const key of Object.keys(value)) if (!Object.hasOwn(schema, key)) return UNDECIDED;
    }
    for (const member of members) {
      const { key, struct } = member;
      if (!(key in value)) {
        if (member.absent === NOT_READ) member.absent = readAbsent(struct, readers);
        if (member.absent === undefined) continue;
        if (member.absent !== UNDECIDED) {
          value[key] = member.absent;
          continue;
        }
      }
      const read = readerOf(struct, readers);
      if (!readMember(value, key, value[key], read, context)) return UNDECIDED;
    }
    return value;
  };
}

const NOT_READ = Symbol('not read');

/**
 * What an absent member always becomes; `UNDECIDED` if it depends on its place or is an object that is not
 * shared.
 */
function readAbsent(struct: AnyStruct, readers: Readers): unknown {
  try {
    const value = readerOf(struct, readers)(undefined, NO_CONTEXT);
    if (typeof value !== 'object' || value === null) return value;
    if (readers !== sharingReaders || !isPlainData(value)) return UNDECIDED;
    keepCanonicalText(freezeAll(value));
    return value;
  } catch {
    return UNDECIDED;
  }
}

function isPlainData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === Array.prototype;
  return isPlain && Object.values(value).every(isPlainData);
}

function freezeAll<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freezeAll);
  return Object.freeze(value);
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
  read: Reader,
  context: Context,
): boolean {
  const value = context === NO_CONTEXT ? read(member, context) : readAt(key, member, read, context);
  if (value === UNDECIDED) return false;
  if (value !== undefined || key in parent) parent[key] = value;
  return true;
}

function readAt(key: string | number, member: unknown, read: Reader, context: Context): unknown {
  context.path.push(key);
  context.branch.push(member);
  const value = read(member, context);
  context.path.pop();
  context.branch.pop();
  return value;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

function isEmpty(failures: Iterable<unknown>): boolean {
  return failures[Symbol.iterator]().next().done === true;
}
