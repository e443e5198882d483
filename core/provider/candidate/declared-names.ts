import type { Manifest, ManifestRoute } from '../../contract/index.js';
import { readSharedName } from '../../schema/shared-schemas.js';

/** An identifier: anything else may be a value, such as an address or a number, that serves as a name. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$-]{0,39}$/;
const MAX_DIGITS = 4;

/** Stands for a name that may be a value. */
const HIDDEN = '*';

/** How names of members are shown: those that are declared, and plain identifiers. */
export function createShowName(declared: ReadonlySet<string>): (name: string) => string {
  return (name) => (isIdentifier(name) || declared.has(name) ? name : HIDDEN);
}

function isIdentifier(name: string): boolean {
  return IDENTIFIER.test(name) && name.replace(/\D+/g, '').length <= MAX_DIGITS;
}

/** The names in each `properties` of the schemas of a route, and of those that they refer to, but identifiers. */
export function listDeclaredNames(
  { operation }: Pick<ManifestRoute, 'operation'>,
  shared: NonNullable<Manifest['schemas']>,
): readonly string[] {
  const { input_schema, output_schema, query_schema } = operation ?? {};
  const names = new Set<string>();
  const seen = new Set<object>();
  const pending: unknown[] = [input_schema, output_schema, query_schema];
  while (pending.length > 0) {
    const schema = pending.pop();
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) continue;
    seen.add(schema);
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties') for (const name of Object.keys(value ?? {})) names.add(name);
      const reference = keyword === '$ref' ? readSharedName(value) : null;
      pending.push(reference === null ? value : shared[reference]);
    }
  }
  return [...names].filter((name) => !isIdentifier(name));
}
