import type { CompletedRequest } from '../completed-request.js';
import { DurationHistogram } from './duration-histogram.js';

/** The host answers within some hundred microseconds; from 10 ms on something is wrong with it. */
const HOST_BOUNDS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
];
/** prom-client's defaults, and finer below: a provider on the same machine answers in a millisecond. */
const PROVIDER_BOUNDS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** The parser knows some 30 more, of which no module can have a route: they are one label, `other`. */
const NAMED_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** What is counted of one route of one module. */
export class RouteCounts {
  /** By method, then by status. */
  readonly byMethod = new Map<string, Map<number, number>>();
  readonly host = new DurationHistogram(HOST_BOUNDS_SECONDS);
  readonly provider = new DurationHistogram(PROVIDER_BOUNDS_SECONDS);

  count({ method, status, durationMs, trace: { providerMs } }: CompletedRequest): void {
    const label = NAMED_METHODS.has(method) ? method : 'other';
    const byStatus = getOrCreate(this.byMethod, label, createByStatus);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    this.host.observe(Math.max(0, durationMs - (providerMs ?? 0)));
    if (providerMs !== null) this.provider.observe(providerMs);
  }
}

/** What is counted of one module. */
export class ModuleCounts {
  /** By template; `''` where none matched. */
  readonly byRoute = new Map<string, RouteCounts>();
  readonly failures = new Map<string, number>();
  retries = 0;

  count(ended: CompletedRequest): void {
    const { route, failure, attempts } = ended.trace;
    getOrCreate(this.byRoute, route ?? '', createRouteCounts).count(ended);
    if (failure !== null) this.failures.set(failure, (this.failures.get(failure) ?? 0) + 1);
    if (attempts > 1) this.retries += attempts - 1;
  }
}

/**
 * What is counted of forwarded requests, by module (`''` where none is known by that name). A request
 * costs some look-ups in maps; labels are made of them when somebody asks.
 */
export class RequestCounts {
  readonly #byModule = new Map<string, ModuleCounts>();

  count(ended: CompletedRequest): void {
    getOrCreate(this.#byModule, ended.trace.module ?? '', createModuleCounts).count(ended);
  }

  modules(): Iterable<[string, ModuleCounts]> {
    return this.#byModule;
  }

  /** Forgets modules, and routes of modules, that are not `declared` any more. */
  keepOnly(declared: (module: string) => DeclaredRoutes | null): void {
    for (const [module, { byRoute }] of this.#byModule) {
      if (module === '') continue;
      const routes = declared(module);
      if (routes === null) this.#byModule.delete(module);
      else if (routes !== 'any') keepRoutes(byRoute, routes);
    }
  }
}

/** `'any'` for a module that nobody serves at the moment: what it had may come back. */
export type DeclaredRoutes = ReadonlySet<string> | 'any';

function keepRoutes(byRoute: Map<string, RouteCounts>, routes: ReadonlySet<string>): void {
  for (const route of byRoute.keys()) {
    if (route !== '' && !routes.has(route)) byRoute.delete(route);
  }
}

const createByStatus = () => new Map<number, number>();
const createRouteCounts = () => new RouteCounts();
const createModuleCounts = () => new ModuleCounts();

function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
