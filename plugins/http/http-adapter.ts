import type { ConnectionOptions } from 'node:tls';
import { defineAdapter, type OpenContext, type Provider } from '../../core/contract/index.js';
import { DEFAULT_CHECK_TIMEOUT_MS, readBalancing } from '../shared/balancing.js';
import { DEFAULT_MANIFEST_PATH, type HttpConfig, httpConfig } from './config.js';
import type { Address } from './connector.js';
import { createSender } from './credentials.js';
import { endpointId, endpointUrl, pathPrefix, type WeightedEndpoint } from './endpoint-config.js';
import { createHttpProvider } from './provider.js';
import { Replica, type ReplicaOptions } from './replica.js';
import { createTlsOptions } from './tls-options.js';

export const SUPPORTS = {
  manifest: true,
  admin: true,
  configure: true,
  streams: true,
  signers: true,
  exchange: true,
} as const;

/** Kind `http`: one or more replicas over TCP, with or without TLS. */
export const httpAdapter = defineAdapter({
  kind: 'http',
  config: httpConfig,
  supports: SUPPORTS,
  open: (config: HttpConfig, context) => {
    let tls: ConnectionOptions | undefined;
    const toAddress = (url: URL): Address => {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (url.protocol === 'http:') return { kind: 'tcp', host, port: Number(url.port || 80) };
      // Created once: with the system's root certificates it takes milliseconds.
      tls ??= createTlsOptions(config.tls ?? {}, context.file);
      return { kind: 'tls', host, port: Number(url.port || 443), options: tls };
    };
    const toOptions = (entry: string | WeightedEndpoint): ReplicaOptions => {
      const url = new URL(endpointUrl(entry));
      const weight = typeof entry === 'string' ? 1 : entry.weight;
      return {
        id: endpointId(entry),
        weight,
        origin: url.origin,
        prefix: pathPrefix(url),
        address: toAddress(url),
      };
    };
    return openProvider(config.endpoints.map(toOptions), config, context);
  },
});

/** Opens the replicas of either kind. */
export async function openProvider(
  replicaOptions: readonly ReplicaOptions[],
  config: Omit<HttpConfig, 'endpoints' | 'tls'>,
  context: OpenContext,
): Promise<Provider> {
  const send = await createSender(config.auth, context);
  const [first, ...others] = replicaOptions.map((options) => new Replica(options));
  if (first === undefined) throw new Error('endpoints must name at least one URL');
  const replicas: readonly [Replica, ...Replica[]] = [first, ...others];
  for (const replica of replicas) context.scope.defer(() => replica.close());
  const balancing = readBalancing(config);
  return createHttpProvider({
    replicas,
    balancing,
    send,
    manifestPath: config.manifest_path ?? DEFAULT_MANIFEST_PATH,
    healthPath: config.health?.path ?? null,
    checkTimeoutMs: balancing.health?.timeoutMs ?? DEFAULT_CHECK_TIMEOUT_MS,
  });
}
