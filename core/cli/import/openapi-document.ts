import {
  findAtPath,
  parseReference,
  parsePointer as splitPointer,
} from '../../lib/json/json-pointer.js';
import { asList, asObject, isObject, type JsonObject } from '../json-value.js';
import { locationOf } from './referred-documents.js';

/** A longer chain of references is a circle. */
const MAX_REFERENCES = 100;

export interface OpenApiDocument {
  /** The version of its schemas; 3.2 has those of 3.1. */
  readonly version: '3.0' | '3.1';
  readonly root: JsonObject;
  /** Why other documents to which it refers were not read, by location. */
  readonly unread: ReadonlyMap<string, string>;
}

type Rooted = Pick<OpenApiDocument, 'root'>;

/** The target of a pointer such as `#/components/schemas/Pet`; `undefined` for none. */
export function findByPointer({ root }: Rooted, pointer: string): unknown {
  const path = parsePointer(pointer);
  return path === null ? undefined : findAtPath(root, path)?.value;
}

/** The keys of a reference, percent-encoded or not; `null` for one to another document. */
export function parsePointer(reference: string): string[] | null {
  const path = parseReference(reference);
  return path === null && reference.startsWith('#/') ? splitPointer(reference.slice(1)) : path;
}

interface Followed<T> {
  /** Empty for a broken reference. */
  readonly value: T;
  /** Why the reference is broken: `a reference that leads nowhere`. */
  readonly problem: string | null;
}

/** Follows references to a value of any kind, such as a list of parameters. */
export function followAny(document: OpenApiDocument, value: unknown): Followed<unknown> {
  let current = value;
  for (let count = 0; count < MAX_REFERENCES; count += 1) {
    const { $ref: reference } = asObject(current);
    if (typeof reference !== 'string') return { value: current, problem: null };
    current = findByPointer(document, reference);
    if (current === undefined) return { value: {}, problem: explainBroken(document, reference) };
  }
  return { value: {}, problem: 'a reference that leads back to itself' };
}

/** Follows references to a mapping. */
export function follow(document: OpenApiDocument, value: unknown): Followed<JsonObject> {
  const { value: target, problem } = followAny(document, value);
  if (isObject(target) || target === value) return { value: asObject(target), problem };
  return { value: {}, problem: 'a reference to what is no mapping' };
}

/**
 * Follows references to a mapping, and joins the members beside them for which `isKept` is true.
 * The nearest member counts.
 */
export function followJoining(
  document: OpenApiDocument,
  value: unknown,
  isKept: (name: string) => boolean,
): Followed<JsonObject> {
  const followed = follow(document, value);
  const { $ref: reference, ...siblings } = asObject(value);
  if (typeof reference !== 'string' || followed.problem !== null) return followed;
  const far = followJoining(document, findByPointer(document, reference), isKept);
  const near = Object.entries(siblings).filter(([name]) => isKept(name));
  return { value: { ...far.value, ...Object.fromEntries(near) }, problem: null };
}

/** Follows references to a component, beside which there may be its texts. */
export function followComponent(document: OpenApiDocument, value: unknown): Followed<JsonObject> {
  return followJoining(document, value, (name) => name === 'description' || name === 'summary');
}

/**
 * Follows the references of a path item, whose other members join those that they lead to. The
 * nearest member counts, and of parameters the nearest of one name.
 */
export function followPathItem(document: OpenApiDocument, value: unknown): Followed<JsonObject> {
  let item: JsonObject = {};
  let current = value;
  for (let count = 0; count < MAX_REFERENCES; count += 1) {
    const { $ref: reference, ...members } = asObject(current);
    const parameters = joinParameters(document, members['parameters'], item['parameters']);
    item = { ...members, ...item, ...(parameters !== undefined && { parameters }) };
    if (typeof reference !== 'string') return { value: item, problem: null };
    current = findByPointer(document, reference);
    if (!isObject(current)) return { value: item, problem: explainBroken(document, reference) };
  }
  return { value: item, problem: 'a reference that leads back to itself' };
}

function joinParameters(document: OpenApiDocument, far: unknown, near: unknown): unknown {
  if (far === undefined || near === undefined) return far ?? near;
  return [far, near].flatMap((list) => {
    const { value, problem } = followAny(document, list);
    // What cannot be read stays, so that the import reports it.
    return problem === null ? asList(value) : [list];
  });
}

/** Follows references; returns an empty object for a broken one. */
export function followReference(document: OpenApiDocument, value: unknown): JsonObject {
  return follow(document, value).value;
}

export function explainBroken({ unread }: OpenApiDocument, reference: string): string {
  const keys = parsePointer(reference);
  if (keys === null) return 'a reference to another document';
  const location = locationOf(keys);
  return (location && unread.get(location)) ?? 'a reference that leads nowhere';
}
