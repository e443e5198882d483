import { asObject, type JsonObject } from '../json-value.js';
import { type ClientFunction, followReference } from './client-model.js';

/** How a route pages: it takes a cursor in its query and returns the next one. */
export interface Paging {
  /** The argument for the cursor. */
  readonly argument: string;
  /** The member of the data that has the next cursor. */
  readonly member: string;
}

/** What lists of entities return, and what the console bridge makes of them. */
const MEMBERS = ['next_cursor', 'nextCursor'];

export function findPaging(route: ClientFunction, schemas: JsonObject): Paging | null {
  const cursor = route.query.find(({ name, isRequired }) => name === 'cursor' && !isRequired);
  if (route.method !== 'GET' || cursor === undefined) return null;
  const root = { components: { schemas } };
  const properties = asObject(followReference(root, route.data)['properties']);
  const member = MEMBERS.find((name) => Object.hasOwn(properties, name));
  return member === undefined ? null : { argument: cursor.argument, member };
}
