import type { ConnectionOptions } from 'node:tls';
import { enums, object, omit, refine, type Struct } from 'superstruct';
import {
  BALANCING_STRATEGIES,
  described,
  type OpenContext,
  optionally,
  when,
} from '../../../core/contract/index.js';
import { health } from '../health-config.js';
import { createSender, tryCredentials } from './credentials.js';
import { auth, tls } from './credentials-config.js';
import { describeCredentials } from './describe-config.js';
import { createEndpointConfig, isList, requireSecure } from './endpoint-config.js';
import { EndpointEntries } from './endpoint-entries.js';
import { headerName } from './header-name.js';
import { resolver } from './names/resolver-config.js';
import { openEndpoints } from './open-endpoints.js';
import { openTransport } from './open-transport.js';
import { createTlsOptions } from './tls-options.js';
import type { EndpointPlace, Transport, TransportOptions } from './transport.js';
import type { EndpointsConfig, TransportConfig } from './transport-config.js';

const HASH_HEADER = when(
  { required: ['strategy'], properties: { strategy: { const: 'consistent_hash' } } },
  { required: ['hash_header'] },
  { properties: { hash_header: false } },
);

type CheckedConfig = Pick<TransportConfig, 'endpoints' | 'strategy' | 'hash_header' | 'tls'>;

/**
 * Defines how the endpoints of a kind are named, found, trusted and balanced, with the words of kind
 * `http`. To be called once, where the module is loaded; it opens nothing.
 */
export function defineTransport({ scheme, paths = false }: TransportOptions): Transport {
  const entries = new EndpointEntries(scheme, paths);
  const { url, endpoints } = createEndpointConfig(entries);
  return {
    url,
    members: {
      endpoints,
      resolver: optionally(resolver, {}),
      strategy: optionally(enums(BALANCING_STRATEGIES), {
        default: BALANCING_STRATEGIES[0],
        description: 'How the host selects an endpoint.',
      }),
      hash_header: optionally(headerName, {
        description: 'Request header whose value selects the endpoint; only for consistent_hash.',
      }),
      tls: optionally(tls, {}),
      health: optionally(described(object(omit(health, ['path']).schema), HEALTH), {}),
      auth: optionally(auth, {}),
    },
    checked: (struct) => addRules(struct, entries),
    describe: (config) => {
      const ofEndpoints = config.endpoints && describeEndpoints(config.endpoints, entries);
      return Object.assign(describeCredentials(config), ofEndpoints);
    },
    tryCredentials: (config, context) => tryCredentials(config.auth, context),
    open: async (config, context, connect) => {
      const readTls = readTlsOnce(config, context);
      const sender = await createSender(config.auth, context);
      const { endpoints: list = [], resolver } = config;
      const options = {
        ...{ entries, endpoints: list, resolver, readTls },
        connect: (place: EndpointPlace) => connect(place, sender.send),
      };
      return openTransport(await openEndpoints(options, context), config, sender);
    },
  };
}

function addRules<T extends CheckedConfig, S>(
  struct: Struct<T, S>,
  entries: EndpointEntries,
): Struct<T, S> {
  const hashed = refine(
    struct,
    'a mapping with hash_header for strategy consistent_hash, and for no other',
    (value) => (value.strategy === 'consistent_hash') === (value.hash_header !== undefined),
  );
  const secured = refine(
    hashed,
    `a mapping with tls only if all endpoints are ${entries.scheme}s`,
    ({ tls, endpoints = [] }) =>
      tls === undefined ||
      !isList(endpoints) ||
      endpoints.every((entry) => entries.isSecure(entry)),
  );
  return described(secured, { allOf: [HASH_HEADER, requireSecure(entries)] });
}

/** A file of endpoints is not read. */
function describeEndpoints(endpoints: EndpointsConfig, entries: EndpointEntries) {
  const [first] = isList(endpoints) ? endpoints : [];
  return {
    ...(isList(endpoints) && { origins: endpoints.map((entry) => entries.originOf(entry)) }),
    ...(entries.hasPaths && { basePath: first === undefined ? '' : entries.prefixOf(first) }),
  };
}

const HEALTH = { description: 'Active checks of each endpoint; none without it.' };

/**
 * Reads configured certificates at once, so that an unusable file is detected at load, and others
 * with the first endpoint: with the system's root certificates it takes milliseconds.
 */
function readTlsOnce(
  { tls: config }: TransportConfig,
  { file }: Pick<OpenContext, 'file'>,
): () => ConnectionOptions {
  let options: ConnectionOptions | undefined;
  const read = () => {
    options ??= createTlsOptions(config ?? {}, file);
    return options;
  };
  if (config !== undefined) read();
  return read;
}
