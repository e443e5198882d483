import type { FoundEndpoints, OpenContext, Provider } from '../../core/contract/index.js';
import type { HttpConfig } from './config.js';
import { type EndpointEntry, isNamed, type WeightedEndpoint } from './endpoint-config.js';
import { EndpointWatch, type NamedPlace } from './names/endpoint-watch.js';
import { readResolver } from './names/resolver-config.js';
import type { ReplicaOptions } from './replica.js';
import { ReplicaSet } from './replica.js';

/** How long `open` waits for the first answers; without them the module serves after this time. */
const FIRST_ANSWERS_MS = 3_000;

/** The open watches by module: two while a new version opens, and those of other providers of the module. */
const openWatches = new Map<string, readonly EndpointWatch[]>();

type FixedEntry = string | WeightedEndpoint;

/** The endpoints of a config whose endpoints are all fixed; `null` for any other. */
export function listFixed({ endpoints }: Pick<HttpConfig, 'endpoints'>): FixedEntry[] | null {
  if (!Array.isArray(endpoints)) return null;
  const fixed = endpoints.filter((entry): entry is FixedEntry => !isNamed(entry));
  return fixed.length === endpoints.length ? fixed : null;
}

interface MovingEndpoints {
  readonly replicas: ReplicaSet;
  readonly follow: NonNullable<Provider['followEndpoints']>;
}

/** Resolves endpoints from DNS or from a file until the scope closes. */
export async function openMovingEndpoints(
  { endpoints, resolver }: Pick<HttpConfig, 'endpoints' | 'resolver'>,
  toReplica: (entry: FixedEntry | NamedPlace) => ReplicaOptions,
  context: OpenContext,
): Promise<MovingEndpoints> {
  const replicas = new ReplicaSet([]);
  let notify: (found: FoundEndpoints) => void = () => {};
  let loggedState = '';
  const describe = (): FoundEndpoints => ({
    endpoints: replicas.endpoints,
    resolvedAt: watch.resolvedAt,
    resolveError: watch.failure,
    resolveFailures: watch.failures,
  });
  const publish = () => {
    const nextReplicas = watch.replicas;
    const next = JSON.stringify(
      nextReplicas.map(({ id, weight, priority }) => [id, weight, priority]),
    );
    if (next === loggedState) replicas.closeRetired();
    else replicas.replace(nextReplicas);
    loggedState = next;
    notify(describe());
  };
  const replace = (entries: EndpointEntry[]) => void watch.replace(entries);
  const entries = Array.isArray(endpoints)
    ? endpoints
    : await context.follow<EndpointEntry[]>(endpoints.file, replace);
  const settings = readResolver(resolver);
  const { module } = context;
  const earlier = openWatches.get(module) ?? [];
  const watch = new EndpointWatch(entries, { settings, toReplica, onLookup: publish, earlier });
  openWatches.set(module, [watch, ...earlier]);
  context.scope.defer(() => {
    const others = (openWatches.get(module) ?? []).filter((other) => other !== watch);
    if (others.length > 0) openWatches.set(module, others);
    else openWatches.delete(module);
    watch.close();
    return replicas.close();
  });
  const first = watch.start();
  await Promise.race([first, pause(FIRST_ANSWERS_MS)]);
  publish();
  return {
    replicas,
    follow: (onChange) => {
      notify = onChange;
      return describe();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
