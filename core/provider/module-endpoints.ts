import type {
  Balancing,
  Endpoint as FoundEndpoint,
  FoundEndpoints,
  Log,
  Provider,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import type { ModuleScope } from '../isolation/scope.js';
import { Endpoint, type EndpointOptions } from './endpoint.js';
import { type EndpointBase, parseEndpointBase } from './endpoint-base.js';
import { EndpointPool } from './endpoint-pool.js';
import { EndpointChecks } from './health-checks.js';
import type { KnownModule } from './known-module.js';

interface ModuleEndpointsOptions {
  readonly provider: Provider;
  readonly balancing: Balancing;
  readonly descriptor: Descriptor;
  readonly log: Log;
  /** Its closing ends the health checks. */
  readonly scope: Pick<ModuleScope, 'defer'>;
  readonly owner: ErrorOwner | null;
  readonly known: KnownModule;
  /** How the endpoints are called. */
  readonly connection: string;
  /** Called with the number of failed lookups since the last change. */
  readonly onResolveFailures: (count: number) => void;
}

/** The resolution of a provider's endpoints; `null` for a provider that names them. */
export type Resolution = Omit<FoundEndpoints, 'endpoints'>;

/** The endpoints that there are now. */
export type CurrentEndpoints = Pick<ModuleEndpoints, 'names' | 'onChange'>;

/** The endpoints of one opened provider, which may change while it is open. */
export class ModuleEndpoints {
  readonly pool: EndpointPool;
  /** Called when `names` may have changed. */
  onChange: (() => void) | null = null;
  readonly #options: ModuleEndpointsOptions;
  readonly #checks: EndpointChecks | null;
  #bases: readonly EndpointBase[] = [];
  #resolution: Resolution | null = null;
  #isClosed = false;

  constructor(options: ModuleEndpointsOptions) {
    const { provider, balancing, log, scope, owner } = options;
    const { strategy, health } = balancing;
    this.#options = options;
    this.pool = new EndpointPool([], strategy);
    this.#checks =
      health === null ? null : new EndpointChecks({ provider, checks: health, log, owner }, scope);
    scope.defer(() => {
      this.#isClosed = true;
      for (const endpoint of this.pool.all) endpoint.close();
    });
    const resolved = provider.followEndpoints?.((next) => this.#follow(next)) ?? null;
    if (resolved !== null) {
      this.#follow(resolved);
      return;
    }
    const namedEndpoints = provider.endpoints?.() ?? [];
    this.#replace(
      namedEndpoints.length === 0
        ? // The endpoint of a provider that names none.
          [this.#create({ id: options.descriptor.provider.kind, weight: 1, name: null })]
        : namedEndpoints.map(this.#keepOrCreate),
    );
  }

  /** The bases of the endpoints that name a URL, without duplicates. */
  get bases(): readonly EndpointBase[] {
    return this.#bases;
  }

  get resolution(): Resolution | null {
    return this.#resolution;
  }

  /** As calls name them; `null` is the endpoint of a provider that names none. */
  get names(): readonly (string | null)[] {
    return this.pool.all.map(({ name }) => name);
  }

  /** Forgets what is known of other routes. */
  keepRoutes(routes: ReadonlySet<string>): void {
    for (const { breakers } of this.pool.all) breakers.keepOnly(routes);
  }

  #follow({ endpoints, ...resolution }: FoundEndpoints): void {
    if (this.#isClosed) return;
    const { descriptor, log, onResolveFailures } = this.#options;
    const before = this.#resolution;
    this.#resolution = resolution;
    onResolveFailures(resolution.resolveFailures - (before?.resolveFailures ?? 0));
    const { resolveError } = resolution;
    if (resolveError !== (before?.resolveError ?? null)) {
      const fields = { module: descriptor.module, failure_detail: resolveError };
      if (resolveError === null) log.info(fields, 'endpoints resolved again');
      else log.warn(fields, 'endpoints not resolved');
    }
    this.#replace(endpoints.map(this.#keepOrCreate), resolveError);
    this.onChange?.();
  }

  #replace(endpoints: readonly Endpoint[], absence: string | null = null): void {
    for (const endpoint of this.pool.all) if (!endpoints.includes(endpoint)) endpoint.close();
    this.pool.replace(endpoints, absence);
    const bases = endpoints.flatMap(({ base }) => base ?? []);
    this.#bases = [...new Map(bases.map((base) => [base.origin + base.path, base])).values()];
    this.#checks?.follow(endpoints);
  }

  /** An endpoint that remains keeps its breakers, its health and its counts. */
  readonly #keepOrCreate = (endpoint: FoundEndpoint): Endpoint => {
    const { id, weight, url, priority = 0 } = endpoint;
    const existing = this.pool.all.find((endpoint) => endpoint.id === id);
    const base = url === undefined ? null : parseEndpointBase(url);
    if (existing === undefined) {
      return this.#create({ id, weight, priority, name: id, base });
    }
    existing.weight = weight;
    existing.priority = priority;
    existing.base = base;
    return existing;
  };

  #create(
    endpoint: Pick<EndpointOptions, 'id' | 'weight' | 'priority' | 'name' | 'base'>,
  ): Endpoint {
    const { descriptor, balancing, log, known, connection } = this.#options;
    const { breaker } = descriptor;
    const { health } = balancing;
    return new Endpoint({ breaker, health, log, known, connection, ...endpoint });
  }
}
