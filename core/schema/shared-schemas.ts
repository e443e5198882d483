import type { JsonSchema } from '../contract/index.js';
import { findAtPath, type JsonPath, parseReference } from '../lib/json/json-pointer.js';

export type SharedSchemas = Readonly<Record<string, JsonSchema>>;

/**
 * The targets of a schema's references: `#` is its own root, `manifest:schemas/Name` a shared
 * schema.
 */
export interface SchemaScope {
  readonly root: unknown;
  readonly shared: SharedSchemas;
}

interface ReferenceTarget {
  readonly value: unknown;
  /** The path from the root of its scope. */
  readonly path: JsonPath;
  readonly scope: SchemaScope;
}

export const SHARED_NAME = /^[A-Za-z0-9._-]{1,128}$/;

const SHARED_PREFIX = 'manifest:schemas/';

export function formatSharedReference(name: string): string {
  return SHARED_PREFIX + name;
}

/** The name in `manifest:schemas/Name`; `null` for any other reference. */
export function readSharedName(reference: unknown): string | null {
  if (typeof reference !== 'string' || !reference.startsWith(SHARED_PREFIX)) return null;
  const name = reference.slice(SHARED_PREFIX.length);
  return SHARED_NAME.test(name) ? name : null;
}

/** The target of a reference; `null` for a broken one. */
export function resolveReference(scope: SchemaScope, reference: unknown): ReferenceTarget | null {
  if (typeof reference !== 'string') return null;
  const name = readSharedName(reference);
  if (name !== null) {
    if (!Object.hasOwn(scope.shared, name)) return null;
    const value = scope.shared[name];
    return { value, path: [], scope: { root: value, shared: scope.shared } };
  }
  const path = parseReference(reference);
  const target = path === null ? null : findAtPath(scope.root, path);
  return target === null ? null : { ...target, scope };
}
