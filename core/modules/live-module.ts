import type {
  BodyRule,
  Manifest,
  ManifestRoute,
  Method,
  ProviderAdapter,
  Secret,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { RouteTable } from '../lib/routing/route-table.js';
import { type KnownSegments, parseRouteTemplate } from '../lib/routing/route-template.js';
import { forEachInSlices } from '../lib/slices.js';
import { readAdapterOperation } from '../manifest/adapter-operations.js';
import { bodyRuleOf } from '../manifest/body-rule.js';
import { type ByteRules, byteRulesOf } from '../manifest/byte-rules.js';
import { type CacheRules, cacheRulesOf } from '../manifest/cache-rules.js';
import { isWebSocket, type StreamRules, streamRulesOf } from '../manifest/stream-rules.js';
import type { CallObserver } from '../provider/call-observer.js';
import type { ProviderClient } from '../provider/provider-client.js';
import { SchemaRegistry } from '../schema/compile-schema.js';
import type { ModuleConfig } from './module-config.js';
import { createRouteSchemas, type RouteSchemas } from './route-schemas.js';

/** A route of a live module, with all values that do not depend on the request. */
export interface LiveRoute {
  /** The route as in the manifest. */
  readonly declared: ManifestRoute;
  /** `GET /items/{id}` */
  readonly name: string;
  readonly method: Method;
  readonly declaredPath: string;
  /** `null` denies every caller (403). */
  readonly capability: string | null;
  /** Whether it needs no credentials. */
  readonly isPublic: boolean;
  /** The time of a stream of events counts until its head, that of a WebSocket until it is open. */
  readonly timeoutMs: number;
  /** The body of a GET is ignored if it is `none`. */
  readonly body: BodyRule;
  /** The rules of a byte body, which may stand beside JSON; `null` for JSON alone, or no body. */
  readonly bodyBytes: ByteRules | null;
  /** The rules of a byte response, which may stand beside JSON; `null` for JSON alone. */
  readonly responseBytes: ByteRules | null;
  /** The rules of a stream of events; `null` for any other route. */
  readonly stream: StreamRules | null;
  /** `null` for a route without a cache. */
  readonly cache: CacheRules | null;
  /** Whether a call may change the cached responses of the module's routes. */
  readonly clearsCache: boolean;
  readonly isWebSocket: boolean;
  /** Whether it transfers JSON only: no bytes, no stream and no WebSocket. */
  readonly isPlain: boolean;
  /** Whether a call without an `idempotency-key` is rejected. */
  readonly requiresKey: boolean;
  /** Whether a failed call may be repeated. */
  readonly isRepeatable: boolean;
  /** Whether its provider answers with results of tools. */
  readonly givesToolResults: boolean;
  /** The part of the route that its adapter reads; `undefined` for none. */
  readonly options: unknown;
  /** `null` if no schema is enforced. */
  readonly schemas: RouteSchemas | null;
  /** The fields of the envelope that are the same for every call, as JSON, without the closing brace. */
  readonly envelopeHead: string;
}

interface DeclaredParts {
  readonly descriptor: Descriptor;
  readonly manifest: Manifest;
  readonly manifestDigest: string;
  /** The digest of the descriptor, the manifest and the named files together. */
  readonly configDigest: string;
}

/** The parts of a module that derive from its files, without its provider. */
export interface RoutedModule extends DeclaredParts {
  readonly name: string;
  readonly routes: RouteTable<LiveRoute>;
}

interface OpenedParts {
  /** Whose responses are kept, and how they are fetched. */
  readonly content: string;
  readonly client: ProviderClient;
  readonly config: ModuleConfig;
  /** `null` for a module whose calls nothing observes. */
  readonly observer: CallObserver | null;
  /** The credentials of the provider's config. */
  readonly secrets: readonly Secret[];
}

/** One serving version of one module. Immutable, except for the counters of its client. */
export interface LiveModule extends RoutedModule, OpenedParts {}

/**
 * An immutable snapshot of all live modules, by configured name. A request uses the one with which
 * it started.
 */
export type Generation = ReadonlyMap<string, LiveModule>;

export function createRoutedModule<Parts extends DeclaredParts>(
  parts: Parts,
): Parts & RoutedModule {
  const { descriptor, manifest } = parts;
  return { name: descriptor.module, routes: createRoutes({ descriptor }, manifest), ...parts };
}

export function createLiveModule(
  parts: DeclaredParts & OpenedParts,
  routes: RouteTable<LiveRoute>,
): LiveModule {
  return { name: parts.descriptor.module, routes, ...parts };
}

/** The parts of a module that its routes depend on. */
export interface RouteContext {
  readonly descriptor: Descriptor;
  /** Absent for routes that nothing calls. */
  readonly adapter?: ProviderAdapter;
}

/** The route table of a module, in the order of its manifest. */
export function createRoutes(context: RouteContext, manifest: Manifest): RouteTable<LiveRoute> {
  const { routes, add } = startTable(context, manifest);
  for (const declared of manifest.http_routes) add(declared);
  return routes;
}

/** Creates a route table without blocking the event loop: thousands of routes take 100 ms. */
export async function createRoutesInSlices(
  context: RouteContext,
  manifest: Manifest,
): Promise<RouteTable<LiveRoute>> {
  const { routes, add } = startTable(context, manifest);
  await forEachInSlices(manifest.http_routes, add);
  return routes;
}

function startTable(context: RouteContext, manifest: Manifest) {
  const { descriptor } = context;
  const routes = new RouteTable<LiveRoute>();
  const schemas = new SchemaRegistry(manifest.schemas ?? {});
  const caches = manifest.http_routes.some((route) => cacheRulesOf(descriptor, route) !== null);
  const segments: KnownSegments = new Map();
  const add = (declared: ManifestRoute) => {
    const template = parseRouteTemplate(declared.path, declared.operation?.encoded, segments);
    const value = createLiveRoute(context, declared, schemas, caches);
    routes.add({ method: declared.method, template, value, isUpgrade: value.isWebSocket });
  };
  return { routes, add };
}

function createLiveRoute(
  { descriptor, adapter }: RouteContext,
  declared: ManifestRoute,
  schemas: SchemaRegistry,
  caches: boolean,
): LiveRoute {
  const { operation } = declared;
  const isStream = operation?.stream !== undefined;
  const shortened = operation?.timeout_ms ?? Number.POSITIVE_INFINITY;
  const bytes = byteRulesOf(descriptor, operation);
  return {
    declared,
    name: `${declared.method} ${declared.path}`,
    method: declared.method,
    declaredPath: declared.path,
    capability: declared.capability ?? null,
    isPublic: declared.access === 'public' && descriptor.public,
    timeoutMs: Math.min(readTimeout(descriptor, isStream), shortened),
    body: bodyRuleOf(declared),
    ...bytes,
    stream: streamRulesOf(operation),
    isWebSocket: isWebSocket(declared),
    isPlain: !isStream && (bytes.bodyBytes ?? bytes.responseBytes) === null,
    cache: cacheRulesOf(descriptor, declared),
    clearsCache: caches && declared.method !== 'GET',
    ...readIdempotency(declared),
    givesToolResults: adapter?.supports.toolResults === true,
    options: adapter && readAdapterOperation(adapter, declared),
    schemas: createRouteSchemas(descriptor, operation, schemas),
    envelopeHead: createEnvelopeHead(descriptor.module, declared),
  };
}

/** The time of a call includes its end, that of a stream only its head. */
function readTimeout({ limits }: Descriptor, isStream: boolean): number {
  return isStream ? (limits.stream.head_ms ?? limits.timeout_ms) : limits.timeout_ms;
}

/** With a key, the provider can detect that a call is repeated. */
function readIdempotency({ method, operation }: ManifestRoute) {
  const { idempotency } = operation ?? {};
  const requiresKey = idempotency === 'requires_key';
  return {
    requiresKey,
    isRepeatable: method === 'GET' || requiresKey || idempotency === 'idempotent',
  };
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

/** Provides the current generation, which handlers read once per request. */
export interface GenerationSource {
  readonly current: Generation;
}

/** The reason of a module whose first manifest is pending. */
export const MANIFEST_PENDING = 'the module waits for its manifest';

/** A module that does not serve yet. */
export interface WaitingModule
  extends Pick<Descriptor, 'module' | 'callers' | 'allow'>,
    Partial<Pick<Descriptor, 'responses'>> {
  /** Why, for the caller. */
  readonly reason: string;
}

/** Provides modules that are not part of a generation yet. */
export interface WaitingSource {
  /** `null` for any module that is not waiting. */
  findWaiting(name: string): WaitingModule | null;
}
