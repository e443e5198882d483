import { MODULE_HTTP_METHODS } from '../../contract/index.js';
import type { CompletedRequest } from '../completed-request.js';
import type { Labels } from './collected-metric.js';

/** The host itself takes some hundred microseconds; more than 10 ms is a problem. */
const HOST_BOUNDS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
];
/** prom-client's defaults and finer ones: a provider on the same machine responds in a millisecond. */
const PROVIDER_BOUNDS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** A stream may be open for hours; such durations are not informative. */
const SURFACE_BOUNDS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

/** Other methods share the label `other`, because a module cannot have routes for them. */
const NAMED_METHODS: ReadonlySet<string> = new Set([...MODULE_HTTP_METHODS, 'HEAD', 'OPTIONS']);

/** Far more than a host has. The counts of the module that was called first are removed. */
const MAX_MODULES = 20_000;

const MS_PER_SECOND = 1000;

export interface HistogramSample {
  readonly labels: Labels;
  readonly value: number;
  /** `…_bucket`, `…_sum` or `…_count`. */
  readonly metricName: string;
}

/**
 * The durations of one set of labels. prom-client's own Counter and Histogram hash the labels of
 * each observation: 1.8 µs a request in a loop, 3 to 23 % of the CPU time of a small GET on a busy
 * machine, and a higher peak of memory. Requests are therefore counted here, and passed to
 * prom-client at the scrape.
 */
class DurationHistogram {
  readonly #boundsSeconds: readonly number[];
  /** The counts are not cumulative; the last one counts durations above every bound. */
  readonly #counts: Float64Array;
  #sumSeconds = 0;

  /** @param boundsSeconds inclusive upper bounds, ascending */
  constructor(boundsSeconds: readonly number[]) {
    this.#boundsSeconds = boundsSeconds;
    this.#counts = new Float64Array(boundsSeconds.length + 1);
  }

  observe(ms: number): void {
    const seconds = ms / MS_PER_SECOND;
    let bucket = 0;
    while (seconds > (this.#boundsSeconds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumSeconds += seconds;
  }

  /** The order is that of the exposition format: cumulative buckets, sum, count. Empty without observations. */
  read(name: string, labels: Labels): HistogramSample[] {
    if (this.#counts.every((count) => count === 0)) return [];
    const samples: HistogramSample[] = [];
    let count = 0;
    for (const [bucket, inBucket] of this.#counts.entries()) {
      count += inBucket;
      const le = String(this.#boundsSeconds[bucket] ?? '+Inf');
      samples.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: count });
    }
    samples.push({ metricName: `${name}_sum`, labels, value: this.#sumSeconds });
    samples.push({ metricName: `${name}_count`, labels, value: count });
    return samples;
  }
}

class SurfaceCounts {
  readonly byStatus = new Map<number, number>();
  readonly duration = new DurationHistogram(SURFACE_BOUNDS_SECONDS);
}

export class RouteCounts {
  /** Calls that violated a schema, by direction. */
  readonly violations = { input: 0, output: 0 };
  /** The number of results of the route's cache. */
  readonly byCacheResult = new Map<string, number>();
  /** The counts by method, then by status. */
  readonly byMethod = new Map<string, Map<number, number>>();
  readonly host = new DurationHistogram(HOST_BOUNDS_SECONDS);
  readonly provider = new DurationHistogram(PROVIDER_BOUNDS_SECONDS);

  count({ method, status, durationMs, headMs, facts }: CompletedRequest): void {
    const { provider_ms, cache } = facts;
    const label = NAMED_METHODS.has(method) ? method : 'other';
    increment(getOrCreate(this.byMethod, label, createByStatus), status);
    for (const { direction } of facts.schemaViolations ?? []) this.violations[direction] += 1;
    if (cache !== null) increment(this.byCacheResult, cache);
    this.host.observe(Math.max(0, (headMs ?? durationMs) - (provider_ms ?? 0)));
    if (provider_ms !== null) this.provider.observe(provider_ms);
  }
}

export class ModuleRequestCounts {
  /** The counts by template; `''` without a matching route. */
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
 * Counts forwarded requests by module; `''` for an unknown name, and for actors of a kind that may
 * not call, whether or not the module exists. A request costs some map lookups; labels are created
 * at the scrape.
 */
export class RequestCounts {
  /** Answered preflights, which reach no module. */
  preflights = 0;
  /** Excludes requests of surfaces to the host, which are counted like others. */
  readonly bySurface = new Map<string, SurfaceCounts>();
  readonly #byModule = new Map<string, ModuleRequestCounts>();

  /** Runs when the status is known: the stream of a surface is still open then. */
  count(completed: CompletedRequest): void {
    const { kind, surface } = completed.facts;
    if (kind === 'forwarded') this.#countForwarded(completed);
    else if (kind === 'preflight') this.preflights += 1;
    else if (kind === 'surface' && surface !== null) this.#countSurface(surface, completed);
  }

  #countSurface(surface: string, { status, durationMs }: CompletedRequest): void {
    const counts = getOrCreate(this.bySurface, surface, createSurfaceCounts);
    increment(counts.byStatus, status);
    counts.duration.observe(durationMs);
  }

  #countForwarded(completed: CompletedRequest): void {
    const { actorKind, facts } = completed;
    const module = facts.module ?? '';
    const isRejectedCaller = facts.rejection?.reason === 'callers';
    this.#ofModule(isRejectedCaller ? '' : module).count(completed);
    if (isRejectedCaller) increment(this.#ofModule(module).rejectedCallers, actorKind ?? '');
    if (this.#byModule.size > MAX_MODULES) this.#removeFirst();
  }

  #ofModule(module: string): ModuleRequestCounts {
    return getOrCreate(this.#byModule, module, createModuleRequestCounts);
  }

  #removeFirst(): void {
    const [first] = this.#byModule.keys();
    if (first !== undefined) this.#byModule.delete(first);
  }

  modules(): Iterable<[string, ModuleRequestCounts]> {
    return this.#byModule;
  }

  /** Removes modules and routes that are no longer declared. */
  keepOnly(isDeclared: (labels: Labels) => boolean): void {
    for (const [module, { byRoute }] of this.#byModule) {
      if (!isDeclared({ module })) this.#byModule.delete(module);
      for (const route of byRoute.keys()) {
        if (!isDeclared({ module, route })) byRoute.delete(route);
      }
    }
  }
}

const createByStatus = () => new Map<number, number>();
const createSurfaceCounts = () => new SurfaceCounts();
const createRouteCounts = () => new RouteCounts();
const createModuleRequestCounts = () => new ModuleRequestCounts();

function increment<K>(counts: Map<K, number>, key: K): void {
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
