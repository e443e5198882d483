import { asObject, type JsonObject } from '../json-value.js';
import { type ClientFunction, followReference } from './client-model.js';
import type { UniqueNames } from './names.js';

/** How a route pages: it takes a cursor in its query and returns the next one. */
export interface Paging {
  /** Of the function that reads all pages. */
  readonly name: string;
  /** The argument for the cursor. */
  readonly argument: string;
  /** The member of the data that has the next cursor. */
  readonly member: string;
}

/** What lists of entities return, and what the console bridge makes of them. */
const MEMBERS = ['next_cursor', 'nextCursor'];

/** @param names those of all functions of the module; the found one is added */
export function findPaging(
  route: ClientFunction,
  schemas: JsonObject,
  names: UniqueNames,
): Paging | null {
  const cursor = route.query.find(({ name, isRequired }) => name === 'cursor' && !isRequired);
  if (route.method !== 'GET' || cursor === undefined) return null;
  const root = { components: { schemas } };
  const properties = asObject(followReference(root, route.data)['properties']);
  const member = MEMBERS.find((name) => Object.hasOwn(properties, name));
  if (member === undefined) return null;
  return { name: names.add(`${route.name}Pages`), argument: cursor.argument, member };
}
