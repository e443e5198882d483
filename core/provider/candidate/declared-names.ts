import type { Manifest, ManifestRoute } from '../../contract/index.js';
import { readSharedName } from '../../schema/shared-schemas.js';

/** Matches identifiers: any other name may be a value, such as an address or a number. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$-]{0,39}$/;
const MAX_DIGITS = 4;

/** Replaces a name that may be a value. */
const HIDDEN = '*';

/** Creates a function that shows declared names and plain identifiers, and hides others. */
export function createNameMask(declared: ReadonlySet<string>): (name: string) => string {
  return (name) => (isIdentifier(name) || declared.has(name) ? name : HIDDEN);
}

function isIdentifier(name: string): boolean {
  return IDENTIFIER.test(name) && name.replace(/\D+/g, '').length <= MAX_DIGITS;
}

/**
 * Lists the names in each `properties` of the schemas of a route and of referenced schemas, except
 * identifiers.
 */
export function listDeclaredNames(
  { operation }: Pick<ManifestRoute, 'operation'>,
  shared: NonNullable<Manifest['schemas']>,
): readonly string[] {
  const { input_schema, output_schema, query_schema, path_params_schema } = operation ?? {};
  const names = new Set<string>();
  const visited = new Set<object>();
  const pending: unknown[] = [...[input_schema, output_schema, query_schema, path_params_schema]];
  while (pending.length > 0) {
    const schema = pending.pop();
    if (typeof schema !== 'object' || schema === null || visited.has(schema)) continue;
    visited.add(schema);
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties') for (const name of Object.keys(value ?? {})) names.add(name);
      const reference = keyword === '$ref' ? readSharedName(value) : null;
      pending.push(reference === null ? value : shared[reference]);
    }
  }
  return [...names].filter((name) => !isIdentifier(name));
}
