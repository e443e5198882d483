import { defineAdapter, type OpenContext, type Provider } from '../../core/contract/index.js';
import { createSender } from '../shared/transport/credentials.js';
import { EndpointSet } from '../shared/transport/endpoint-set.js';
import { openTransport } from '../shared/transport/open-transport.js';
import { DEFAULT_MANIFEST_PATH, type HttpConfig, httpConfig, httpTransport } from './config.js';
import { connectHttp } from './connect-http.js';
import { createHttpProvider } from './provider.js';
import { Replica, type ReplicaOptions } from './replica.js';

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
  describeConfig: (config) => httpTransport.describe(config),
  tryCredentials: (config, context) => httpTransport.tryCredentials(config, context),
  open: async (config: HttpConfig, context) =>
    createHttpProvider(await httpTransport.open(config, context, connectHttp), readPaths(config)),
});

interface LocalPlace extends ReplicaOptions {
  readonly weight: number;
}

/** Opens a provider with one replica on this machine. */
export async function openLocalProvider(
  place: LocalPlace,
  config: Pick<HttpConfig, 'auth' | 'health' | 'manifest_path'>,
  context: OpenContext,
): Promise<Provider> {
  const connect = (options: LocalPlace) => new Replica(options);
  const set = new EndpointSet<LocalPlace, Replica>([place], { connect, hasUrls: true });
  context.scope.defer(() => set.close());
  const sender = await createSender(config.auth, context);
  return createHttpProvider(openTransport({ set }, config, sender), readPaths(config));
}

function readPaths({ manifest_path, health }: Pick<HttpConfig, 'manifest_path' | 'health'>) {
  return {
    manifestPath: manifest_path ?? DEFAULT_MANIFEST_PATH,
    healthPath: health?.path ?? null,
  };
}
