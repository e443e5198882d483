import { isSchemaObject } from '../schema/subschema-keywords.js';
import { upgradeSchema } from '../schema/upgrade-schema.js';
import { SCHEMA_KEYS } from './schema-rules.js';

type Mapping = Readonly<Record<string, unknown>>;

/** Upgrades the schemas of a manifest, which may be invalid; returns the same one without older schemas. */
export function upgradeManifest<T>(manifest: T): T {
  if (!isSchemaObject(manifest)) return manifest;
  const { schemas, http_routes: routes } = manifest as Mapping;
  let isChanged = false;
  const upgrade = (schema: unknown) => {
    const upgraded = upgradeSchema(schema);
    isChanged ||= upgraded !== schema;
    return upgraded;
  };
  const upgradeAll = (of: Mapping, names: readonly string[]) =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => [
        name,
        names.includes(name) ? upgrade(value) : value,
      ]),
    );
  const shared = isSchemaObject(schemas) ? upgradeAll(schemas, Object.keys(schemas)) : schemas;
  const upgraded = Array.isArray(routes)
    ? routes.map((route: unknown) => {
        if (!isSchemaObject(route) || !isSchemaObject(route['operation'])) return route;
        return { ...route, operation: upgradeAll(route['operation'], SCHEMA_KEYS) };
      })
    : routes;
  if (!isChanged) return manifest;
  return { ...manifest, ...(schemas !== undefined && { schemas: shared }), http_routes: upgraded };
}
