import { mayBeAbsent } from '../contract/described.js';
import type { Manifest, ManifestRoute, ProviderAdapter, ProviderRoute } from '../contract/index.js';
import type { Violation } from '../document/diagnostic.js';
import { readModuleProblems } from '../document/module-problems.js';
import { validateStruct } from '../document/validate.js';
import { isMapping } from '../lib/read-member.js';
import { OPERATION_MEMBERS } from './manifest-struct.js';
import { describeRoute } from './route-rules.js';
import { violationAt } from './violation-at.js';

type Routes = Pick<Manifest, 'http_routes'>;

/** An adapter as far as the operations of its routes depend on it. */
export type OperationAdapter = Pick<ProviderAdapter, 'kind' | 'operation' | 'checkManifest'>;

/**
 * A copy of a manifest without the members of operations that adapters validate, which are those with the name
 * of a kind.
 */
export function omitAdapterOperations(manifest: unknown, kinds: readonly string[]): unknown {
  if (!isMapping(manifest) || !Array.isArray(manifest['http_routes'])) return manifest;
  const omitted = new Set(kinds.filter((kind) => !OPERATION_MEMBERS.has(kind)));
  const http_routes = manifest['http_routes'].map((route: unknown) => {
    if (!isMapping(route) || !isMapping(route['operation'])) return route;
    const members = Object.entries(route['operation']);
    const kept = members.filter(([name]) => !omitted.has(name));
    return kept.length === members.length
      ? route
      : { ...route, operation: Object.fromEntries(kept) };
  });
  return { ...manifest, http_routes };
}

/** The kinds that the operations of a manifest name, in the order of its routes. */
export function listOperationKinds({ http_routes }: Routes): string[] {
  const kinds = http_routes.flatMap(({ operation }) => Object.keys(operation ?? {}));
  return [...new Set(kinds)].filter((name) => !OPERATION_MEMBERS.has(name));
}

/** Finds members of operations that belong to other kinds than the one of the provider. */
export function findForeignOperations({ http_routes }: Routes, kind: string): Violation[] {
  return http_routes.flatMap((route, index) =>
    listOperationKinds({ http_routes: [route] }).flatMap((name): Violation[] => {
      if (name === kind) return [];
      const rest = `is for providers of kind ${name}, but the provider of ${describeRoute(route, index)} is of kind ${kind}`;
      const path = ['http_routes', index, 'operation', name];
      const violation = violationAt(path, 'operation-of-other-kind', rest, 'remove it');
      return [{ ...violation, at: 'key' }];
    }),
  );
}

/** Validates a manifest by the rules of the adapter: first the member of each operation that it defines. */
export function validateForAdapter(
  manifest: Manifest,
  adapter: OperationAdapter,
): readonly Violation[] {
  const violations = validateAdapterOperations(manifest, adapter);
  if (violations.length > 0 || adapter.checkManifest === undefined) return violations;
  const routes = listProviderRoutes(manifest, adapter);
  return readModuleProblems(() => adapter.checkManifest?.(manifest, routes), []);
}

/** The routes of a manifest that the adapter accepts. */
export function listProviderRoutes(
  { http_routes }: Routes,
  adapter: OperationAdapter,
): ProviderRoute[] {
  return http_routes.map((declared) => {
    const options = readAdapterOperation(adapter, declared);
    return { declared, ...(options !== undefined && { options }) };
  });
}

/** Validates the member of each operation that the adapter defines. */
function validateAdapterOperations(
  { http_routes }: Routes,
  { kind, operation: struct }: OperationAdapter,
): Violation[] {
  return http_routes.flatMap((route, index): Violation[] => {
    const value = readMemberOf(route, kind);
    const path = ['http_routes', index, 'operation', kind];
    if (struct === undefined) {
      if (value === undefined) return [];
      const rest = `must be absent: providers of kind ${kind} define no such member`;
      return [{ ...violationAt(path, 'unknown-key', rest, 'remove it'), at: 'key' }];
    }
    if (value !== undefined) return [...validateStruct(value, struct, path).violations];
    if (mayBeAbsent(struct)) return [];
    const message = `${describeRoute(route, index)} needs 'operation.${kind}' for a provider of kind ${kind}`;
    const place = ['http_routes', index];
    return [{ rule: 'missing-key', message, hint: null, path: place, at: 'value', missing: kind }];
  });
}

/**
 * The value of `operation.<kind>` of a route, as the struct of the adapter coerces it.
 * @param route of a manifest that {@link validateAdapterOperations} accepts
 */
export function readAdapterOperation(
  { kind, operation: struct }: OperationAdapter,
  route: ManifestRoute,
): unknown {
  if (struct === undefined) return undefined;
  return validateStruct(readMemberOf(route, kind), struct).value;
}

function readMemberOf({ operation }: ManifestRoute, kind: string): unknown {
  return operation === undefined ? undefined : Reflect.get(operation, kind);
}
