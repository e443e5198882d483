import {
  type HttpRouteOperation,
  type ModuleProblem,
  ProviderFailure,
  type ProviderRoute,
} from '../../core/contract/index.js';
import { BoundRoute } from './bound-route.js';
import type { GrpcOperation } from './config.js';
import { readDescriptorSet } from './schema.js';
import type { KnownSchema } from './schema-source.js';

/** The methods that the routes of a module call, under the schema that is known. */
export class RouteMethods {
  #declared: readonly ProviderRoute[] = [];
  /** The routes of manifests that were replaced, whose calls may still come. */
  #earlier: readonly ProviderRoute[] = [];
  #schema: KnownSchema | null = null;
  /** By the options, an object for each route. */
  #routes = new Map<unknown, BoundRoute | Error>();

  get services(): string[] {
    return [...new Set(this.#declared.map((route) => serviceOf(route)))];
  }

  use(all: readonly ProviderRoute[]): void {
    this.#earlier = this.#declared;
    this.#declared = all;
    this.#schema = null;
  }

  /** @throws ProviderFailure for a route without a usable method. */
  find({ options, method, declaredPath }: HttpRouteOperation, schema: KnownSchema): BoundRoute {
    const route = this.#bind(schema).get(options);
    if (route instanceof BoundRoute) return route;
    const reason = route?.message ?? 'is not one of this provider';
    const detail = `route '${method} ${declaredPath}' ${reason}`;
    throw new ProviderFailure('protocol', detail, { phase: 'preparing', detail });
  }

  list(schema: KnownSchema) {
    const bound = this.#bind(schema);
    const unusable = this.#declared.flatMap(({ declared, options }) => {
      const route = bound.get(options);
      const name = `${declared.method} ${declared.path}`;
      return route instanceof Error ? [{ name, reason: route.message }] : [];
    });
    return { usable: this.#declared.length - unusable.length, unusable };
  }

  #bind(schema: KnownSchema): ReadonlyMap<unknown, BoundRoute | Error> {
    if (this.#schema === schema) return this.#routes;
    this.#schema = schema;
    this.#routes = new Map();
    for (const route of [...this.#earlier, ...this.#declared]) {
      this.#routes.set(route.options, bindRoute(schema, route));
    }
    return this.#routes;
  }
}

function serviceOf({ options }: ProviderRoute): string {
  return (options as GrpcOperation).method.split('/')[0] ?? '';
}

function bindRoute(schema: KnownSchema, route: ProviderRoute): BoundRoute | Error {
  const reason = schema.missing?.get(serviceOf(route));
  if (reason !== undefined) return new Error(`calls ${serviceOf(route)}, which ${reason}`);
  try {
    return new BoundRoute(schema.registry, route.options as GrpcOperation, route.declared);
  } catch (error) {
    return error instanceof Error ? error : new Error('cannot be bound');
  }
}

/**
 * Finds the routes whose methods a descriptor set does not describe, or describes otherwise.
 * @throws Error for bytes that are not a usable set.
 */
export function findUnusable(
  set: Uint8Array,
  routes: readonly ProviderRoute[],
): readonly ModuleProblem[] {
  const schema = readDescriptorSet(set);
  return routes.flatMap((route, index) => {
    const bound = bindRoute(schema, route);
    if (bound instanceof BoundRoute) return [];
    return { path: ['http_routes', index, 'operation', 'grpc'], message: bound.message };
  });
}
