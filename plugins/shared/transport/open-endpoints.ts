import type { ConnectionOptions } from 'node:tls';
import type { FoundEndpoints, Provider } from '../../../core/contract/index.js';
import { isList } from './endpoint-config.js';
import { type EndpointEntries, isNamed, type NamedPlace } from './endpoint-entries.js';
import { EndpointSet } from './endpoint-set.js';
import { EndpointWatch } from './names/endpoint-watch.js';
import { readResolver } from './names/resolver-config.js';
import type { EndpointClient, EndpointPlace, TransportContext } from './transport.js';
import type {
  EndpointEntry,
  EndpointsConfig,
  FixedEndpoint,
  ResolverConfig,
} from './transport-config.js';

/** How long opening waits for the first answers; without them the module serves after this time. */
const FIRST_ANSWERS_MS = 3_000;

type EndpointsContext = Pick<TransportContext, 'module' | 'scope' | 'follow'>;

/** The open watches by module: two while a new version opens, and those of other providers of the module. */
const openWatches = new Map<string, readonly EndpointWatch[]>();

interface EndpointsOptions<T> {
  readonly entries: EndpointEntries;
  readonly endpoints: EndpointsConfig;
  readonly resolver: ResolverConfig | undefined;
  readonly readTls: () => ConnectionOptions;
  readonly connect: (place: EndpointPlace) => T;
}

interface OpenEndpoints<T extends EndpointClient> {
  readonly set: EndpointSet<EndpointPlace, T>;
  /** Only for endpoints that change. */
  readonly follow?: NonNullable<Provider['followEndpoints']>;
}

/** Opens the endpoints of a config, and closes them with the scope. */
export async function openEndpoints<T extends EndpointClient>(
  options: EndpointsOptions<T>,
  context: EndpointsContext,
): Promise<OpenEndpoints<T>> {
  const { entries, endpoints, connect, readTls } = options;
  const toPlace = (entry: FixedEndpoint | NamedPlace) => entries.toPlace(entry, readTls);
  const set = new EndpointSet<EndpointPlace, T>([], { connect, hasUrls: entries.hasPaths });
  context.scope.defer(() => set.close());
  const fixed = listFixed(endpoints);
  if (fixed === null) return { set, follow: await followEndpoints(set, options, context, toPlace) };
  set.replace(fixed.map(toPlace));
  return { set };
}

/** The endpoints of a config whose endpoints are all fixed; `null` for any other. */
function listFixed(endpoints: EndpointsConfig): readonly FixedEndpoint[] | null {
  if (!isList(endpoints)) return null;
  const fixed = endpoints.filter((entry): entry is FixedEndpoint => !isNamed(entry));
  return fixed.length === endpoints.length ? fixed : null;
}

/** Resolves endpoints from DNS or from a file until the scope closes. */
async function followEndpoints<T extends EndpointClient>(
  set: EndpointSet<EndpointPlace, T>,
  { entries, endpoints, resolver }: EndpointsOptions<T>,
  context: EndpointsContext,
  toPlace: (entry: FixedEndpoint | NamedPlace) => EndpointPlace,
): Promise<NonNullable<Provider['followEndpoints']>> {
  let notify: (found: FoundEndpoints) => void = () => {};
  let loggedState = '';
  const describe = (): FoundEndpoints => ({
    endpoints: set.endpoints,
    resolvedAt: watch.resolvedAt,
    resolveError: watch.failure,
    resolveFailures: watch.failures,
  });
  const publish = () => {
    const { places } = watch;
    const next = JSON.stringify(places.map(({ id, weight, priority }) => [id, weight, priority]));
    if (next === loggedState) set.closeRetired();
    else set.replace(places);
    loggedState = next;
    notify(describe());
  };
  const replace = (list: readonly EndpointEntry[]) => void watch.replace(list);
  const list = isList(endpoints) ? endpoints : await readFile(endpoints.file, context, replace);
  const { module } = context;
  const earlier = openWatches.get(module) ?? [];
  const watch = new EndpointWatch(list, {
    settings: readResolver(resolver),
    idOf: (entry) => entries.idOf(entry),
    toPlace,
    onLookup: publish,
    earlier,
  });
  openWatches.set(module, [watch, ...earlier]);
  context.scope.defer(() => {
    const others = (openWatches.get(module) ?? []).filter((other) => other !== watch);
    if (others.length > 0) openWatches.set(module, others);
    else openWatches.delete(module);
    watch.close();
  });
  const first = watch.start();
  await Promise.race([first, pause(FIRST_ANSWERS_MS)]);
  publish();
  return (onChange) => {
    notify = onChange;
    return describe();
  };
}

function readFile(
  file: string,
  { follow }: EndpointsContext,
  onChange: (list: readonly EndpointEntry[]) => void,
): Promise<readonly EndpointEntry[]> {
  if (follow === undefined) throw new Error('endpoints.file requires a host');
  return follow(file, onChange);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
