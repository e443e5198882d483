import { MODULE_HTTP_METHODS } from '../../contract/index.js';
import type { CompletedRequest } from '../completed-request.js';
import { DurationHistogram } from './duration-histogram.js';

/** The host itself takes some hundred microseconds; more than 10 ms is a problem. */
const HOST_BOUNDS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
];
/** prom-client's defaults and finer ones: a provider on the same machine responds in a millisecond. */
const PROVIDER_BOUNDS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** Other methods share the label `other`: a module cannot have routes for them. */
const NAMED_METHODS: ReadonlySet<string> = new Set([...MODULE_HTTP_METHODS, 'HEAD', 'OPTIONS']);

/** Far more than a host has. The counts of the module that was called first are removed. */
const MAX_MODULES = 20_000;

export class RouteCounts {
  /** Calls that violated a schema, by direction. */
  readonly violations = { input: 0, output: 0 };
  /** By method, then by status. */
  readonly byMethod = new Map<string, Map<number, number>>();
  readonly host = new DurationHistogram(HOST_BOUNDS_SECONDS);
  readonly provider = new DurationHistogram(PROVIDER_BOUNDS_SECONDS);

  count({ method, status, durationMs, facts }: CompletedRequest): void {
    const { providerMs } = facts;
    const label = NAMED_METHODS.has(method) ? method : 'other';
    const byStatus = getOrCreate(this.byMethod, label, createByStatus);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    for (const { direction } of facts.schemaViolations ?? []) this.violations[direction] += 1;
    this.host.observe(Math.max(0, durationMs - (providerMs ?? 0)));
    if (providerMs !== null) this.provider.observe(providerMs);
  }
}

export class ModuleCounts {
  /** By template; `''` where no route matched. */
  readonly byRoute = new Map<string, RouteCounts>();
  readonly failures = new Map<string, number>();
  /** Rejected because the module is not open to their kind of actor. */
  readonly rejectedCallers = new Map<string, number>();
  retries = 0;

  count(completed: CompletedRequest): void {
    const { route, failure, attempts } = completed.facts;
    getOrCreate(this.byRoute, route ?? '', createRouteCounts).count(completed);
    if (failure !== null) increment(this.failures, failure);
    if (attempts > 1) this.retries += attempts - 1;
  }
}

/**
 * Counts forwarded requests by module; `''` where no module has the name, and for actors of a kind that may not
 * call, whether there is a module or not. A request costs some map lookups;
 * labels are created at the scrape.
 */
export class RequestCounts {
  /** Answered preflights, which reach no module. */
  preflights = 0;
  readonly #byModule = new Map<string, ModuleCounts>();

  count(completed: CompletedRequest): void {
    const { actorKind, facts } = completed;
    const module = facts.module ?? '';
    const isRejectedCaller = facts.reason === 'callers';
    this.#ofModule(isRejectedCaller ? '' : module).count(completed);
    if (isRejectedCaller) increment(this.#ofModule(module).rejectedCallers, actorKind ?? '');
    if (this.#byModule.size > MAX_MODULES) this.#removeFirst();
  }

  #ofModule(module: string): ModuleCounts {
    return getOrCreate(this.#byModule, module, createModuleCounts);
  }

  #removeFirst(): void {
    const [first] = this.#byModule.keys();
    if (first !== undefined) this.#byModule.delete(first);
  }

  modules(): Iterable<[string, ModuleCounts]> {
    return this.#byModule;
  }

  /** Removes modules and routes that are no longer `declared`. */
  keepOnly(declared: (module: string) => DeclaredRoutes | null): void {
    for (const [module, { byRoute }] of this.#byModule) {
      if (module === '') continue;
      const routes = declared(module);
      if (routes === null) this.#byModule.delete(module);
      else if (routes !== 'any') keepRoutes(byRoute, routes);
    }
  }
}

/** `'any'` for a module that is not served at the moment: its routes may come back. */
export type DeclaredRoutes = ReadonlySet<string> | 'any';

function keepRoutes(byRoute: Map<string, RouteCounts>, routes: ReadonlySet<string>): void {
  for (const route of byRoute.keys()) {
    if (route !== '' && !routes.has(route)) byRoute.delete(route);
  }
}

const createByStatus = () => new Map<number, number>();
const createRouteCounts = () => new RouteCounts();
const createModuleCounts = () => new ModuleCounts();

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
