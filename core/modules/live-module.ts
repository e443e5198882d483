import type { Manifest, ManifestRoute, Method } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { RouteTable } from '../lib/route-table.js';
import { parseRouteTemplate } from '../lib/route-template.js';
import type { ProviderClient } from '../provider/provider-client.js';
import type { ModuleConfig } from './module-config.js';

/** A route of a live module, with everything that does not depend on the request. */
export interface LiveRoute {
  readonly method: Method;
  readonly declaredPath: string;
  /** `null`: every caller is denied (403). */
  readonly capability: string | null;
  readonly timeoutMs: number;
  readonly idempotency: 'idempotent' | 'requires_key' | 'none';
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
  const routes = new RouteTable<LiveRoute>();
  for (const declared of manifest.http_routes) {
    const template = parseRouteTemplate(declared.path);
    const value = createLiveRoute(descriptor, declared);
    routes.add({ method: declared.method, template, value });
  }
  return { ...parts, name: descriptor.module, routes };
}

function createLiveRoute(descriptor: Descriptor, declared: ManifestRoute): LiveRoute {
  const shortened = declared.operation?.timeout_ms ?? Number.POSITIVE_INFINITY;
  return {
    method: declared.method,
    declaredPath: declared.path,
    capability: declared.capability ?? null,
    timeoutMs: Math.min(descriptor.limits.timeoutMs, shortened),
    idempotency: declared.operation?.idempotency ?? 'none',
  };
}

/** Where handlers read the current generation, once per request. */
export interface GenerationSource {
  readonly current: Generation;
}
