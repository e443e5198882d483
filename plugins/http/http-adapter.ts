import { isIPv6 } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { defineAdapter, type OpenContext, type Provider } from '../../core/contract/index.js';
import { DEFAULT_CHECK_TIMEOUT_MS, readBalancing } from '../shared/balancing.js';
import { DEFAULT_MANIFEST_PATH, type HttpConfig, httpConfig } from './config.js';
import type { Address } from './connector.js';
import { createSender, tryCredentials } from './credentials.js';
import { describeHttp } from './describe-config.js';
import { endpointId, endpointUrl, pathPrefix, type WeightedEndpoint } from './endpoint-config.js';
import { listFixed, openMovingEndpoints } from './moving-endpoints.js';
import type { NamedPlace } from './names/endpoint-watch.js';
import { calledName } from './names/named-endpoint-config.js';
import { createHttpProvider, type HttpProviderOptions } from './provider.js';
import type { ReplicaOptions } from './replica.js';
import { ReplicaSet } from './replica.js';
import { createTlsOptions } from './tls-options.js';

export const SUPPORTS = {
  manifest: true,
  admin: true,
  configure: true,
  streams: true,
  upgrade: true,
  contained: true,
} as const;

/** Kind `http`: one or more replicas over TCP, with or without TLS. */
export const httpAdapter = defineAdapter({
  kind: 'http',
  config: httpConfig,
  supports: SUPPORTS,
  describeConfig: describeHttp,
  tryCredentials: ({ auth }, context) => tryCredentials(auth, context),
  open: async (config: HttpConfig, context) => {
    const toReplica = createToReplica(config, context);
    const urls = listFixed(config);
    if (urls !== null) return openProvider(urls.map(toReplica), config, context);
    return createProvider(await openMovingEndpoints(config, toReplica, context), config, context);
  },
});

/** Opens the replicas of either kind. */
export async function openProvider(
  replicaOptions: readonly ReplicaOptions[],
  config: CommonConfig,
  context: OpenContext,
): Promise<Provider> {
  const replicas = new ReplicaSet(replicaOptions);
  context.scope.defer(() => replicas.close());
  return createProvider({ replicas }, config, context);
}

type CommonConfig = Omit<HttpConfig, 'endpoints' | 'tls'>;

async function createProvider(
  { replicas, follow }: Pick<HttpProviderOptions, 'replicas' | 'follow'>,
  config: CommonConfig,
  context: OpenContext,
): Promise<Provider> {
  const { send, problem } = await createSender(config.auth, context);
  const balancing = readBalancing(config);
  return createHttpProvider({
    replicas,
    ...(follow && { follow }),
    balancing,
    send,
    credentialProblem: problem,
    manifestPath: config.manifest_path ?? DEFAULT_MANIFEST_PATH,
    healthPath: config.health?.path ?? null,
    checkTimeoutMs: balancing.health?.timeoutMs ?? DEFAULT_CHECK_TIMEOUT_MS,
  });
}

/** Reads certificates at once, so that an unusable file is detected at load. */
function createToReplica(config: HttpConfig, context: OpenContext) {
  let tls: ConnectionOptions | undefined;
  // Created once: with the system's root certificates it takes milliseconds.
  const readTls = () => {
    tls ??= createTlsOptions(config.tls ?? {}, context.file);
    return tls;
  };
  if (config.tls !== undefined) readTls();
  return (entry: string | WeightedEndpoint | NamedPlace): ReplicaOptions => {
    if (typeof entry === 'object' && 'entry' in entry) return toNamedReplica(entry, readTls);
    const url = new URL(endpointUrl(entry));
    return {
      id: endpointId(entry),
      weight: typeof entry === 'string' ? 1 : entry.weight,
      origin: url.origin,
      prefix: pathPrefix(url),
      address: readAddress(url, readTls),
    };
  };
}

/** The address of a URL. */
export function readAddress(url: URL, readTls: () => ConnectionOptions): Address {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return url.protocol === 'http:'
    ? { kind: 'tcp', host, port: Number(url.port || 80) }
    : { kind: 'tls', host, port: Number(url.port || 443), options: readTls() };
}

/**
 * Connects to its address under the name of the descriptor: a certificate for the target of a
 * record proves nothing, because the DNS server chooses the target.
 */
function toNamedReplica(
  { entry, address: host, port, weight, priority }: NamedPlace,
  readTls: () => ConnectionOptions,
): ReplicaOptions {
  const { scheme = 'http', path = '' } = entry;
  const name = calledName(entry);
  const prefix = path.replace(/\/$/, '');
  const place = isIPv6(host) ? `[${host}]` : host;
  const address: Address =
    scheme === 'http'
      ? { kind: 'tcp', host, port }
      : { kind: 'tls', host, port, options: { servername: name, ...readTls() } };
  return {
    id: `${scheme}://${place}:${port}${prefix} (${'dns' in entry ? entry.dns : entry.srv})`,
    weight,
    priority,
    origin: new URL(`${scheme}://${name}:${port}`).origin,
    prefix,
    address,
  };
}
