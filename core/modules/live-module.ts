import type { BodyRule, Manifest, ManifestRoute, Method } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { RouteTable } from '../lib/route-table.js';
import { parseRouteTemplate } from '../lib/route-template.js';
import { bodyRuleOf } from '../manifest/body-rule.js';
import type { ProviderClient } from '../provider/provider-client.js';
import type { ModuleConfig } from './module-config.js';
import { createRouteSchemas, type RouteSchemas } from './route-schemas.js';

/** A route of a live module, with everything that does not depend on the request. */
export interface LiveRoute {
  /** As in the manifest. */
  readonly declared: ManifestRoute;
  /** `GET /items/{id}` */
  readonly name: string;
  readonly method: Method;
  readonly declaredPath: string;
  /** `null`: every caller is denied (403). */
  readonly capability: string | null;
  readonly timeoutMs: number;
  /** `none` for GET, whose body is ignored. */
  readonly body: BodyRule;
  /** Whether a failed call may be repeated; `with_key`: if it has an `idempotency-key`. */
  readonly retryPolicy: 'always' | 'with_key' | 'never';
  /** `null` where none is checked. */
  readonly schemas: RouteSchemas | null;
  /** The fields of the envelope that are the same for every call, as JSON, without the closing brace. */
  readonly envelopeHead: string;
}

interface ModuleParts {
  readonly descriptor: Descriptor;
  readonly manifest: Manifest;
  readonly manifestDigest: string;
  /** The digest of the descriptor, the manifest and the named files together. */
  readonly configDigest: string;
  readonly client: ProviderClient;
  readonly config: ModuleConfig;
}

/** One serving version of one module. Immutable, except for the counters of its client. */
export interface LiveModule extends ModuleParts {
  /** The configured name. */
  readonly name: string;
  readonly routes: RouteTable<LiveRoute>;
}

/** An immutable snapshot of all live modules, by configured name. A request keeps the one it started with. */
export type Generation = ReadonlyMap<string, LiveModule>;

export function createLiveModule(parts: ModuleParts): LiveModule {
  const { descriptor, manifest } = parts;
  return { ...parts, name: descriptor.module, routes: createRoutes(descriptor, manifest) };
}

/** The route table of a module, in the order of its manifest. */
export function createRoutes(descriptor: Descriptor, manifest: Manifest): RouteTable<LiveRoute> {
  const routes = new RouteTable<LiveRoute>();
  for (const declared of manifest.http_routes) {
    const template = parseRouteTemplate(declared.path);
    const value = createLiveRoute(descriptor, declared);
    routes.add({ method: declared.method, template, value });
  }
  return routes;
}

function createLiveRoute(descriptor: Descriptor, declared: ManifestRoute): LiveRoute {
  const shortened = declared.operation?.timeout_ms ?? Number.POSITIVE_INFINITY;
  return {
    declared,
    name: `${declared.method} ${declared.path}`,
    method: declared.method,
    declaredPath: declared.path,
    capability: declared.capability ?? null,
    timeoutMs: Math.min(descriptor.limits.timeoutMs, shortened),
    body: bodyRuleOf(declared),
    retryPolicy: retryPolicyOf(declared),
    schemas: createRouteSchemas(descriptor, declared.operation),
    envelopeHead: createEnvelopeHead(descriptor.module, declared),
  };
}

function retryPolicyOf({ method, operation }: ManifestRoute): LiveRoute['retryPolicy'] {
  if (method === 'GET' || operation?.idempotency === 'idempotent') return 'always';
  return operation?.idempotency === 'requires_key' ? 'with_key' : 'never';
}

function createEnvelopeHead(module: string, { method, path, capability }: ManifestRoute): string {
  const fields = {
    status: 'forwarded',
    module_name: module,
    method,
    declared_path: path,
    capability: capability ?? null,
  };
  return JSON.stringify(fields).slice(0, -1);
}

/** Where handlers read the current generation, once per request. */
export interface GenerationSource {
  readonly current: Generation;
}
