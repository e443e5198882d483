import { array, define, dynamic, enums, type Infer, object, refine, size } from 'superstruct';
import { described, named, optionally, when } from '../../core/contract/described.js';
import { BALANCING_STRATEGIES, documentReference } from '../../core/contract/index.js';
import { health, requestPath } from '../shared/health-config.js';
import { auth, tls } from './credentials-config.js';
import {
  type AnyStruct,
  type EndpointEntry,
  endpoint,
  endpointId,
  isHttps,
} from './endpoint-config.js';
import { headerName } from './header-name.js';
import { resolver } from './names/resolver-config.js';

/** The default of `manifest_path`. */
export const DEFAULT_MANIFEST_PATH = '/.well-known/modgate/manifest.json';

/** The maximum number of replicas; a larger number requires a load balancer. */
const MAX_ENDPOINTS = 64;

export const manifestPath = optionally(requestPath, {
  default: DEFAULT_MANIFEST_PATH,
  description: 'Where the provider serves its manifest, for manifest: { from: provider }.',
});

const shared = {
  health: optionally(health, {}),
  auth: optionally(auth, {}),
  manifest_path: manifestPath,
};

const LIST = 'a list of endpoints that differ';

const list = described(
  refine(
    size(array(named('endpoint', endpoint)), 1, MAX_ENDPOINTS),
    LIST,
    (values) => new Set(values.map(endpointId)).size === values.length,
  ),
  { minItems: 1, maxItems: MAX_ENDPOINTS, description: 'Replicas of the provider.' },
);
const httpsList = refine(list, 'a list of https endpoints, because of tls', (values) =>
  values.every(isHttps),
);

const fileOf = (content: AnyStruct) =>
  object({
    file: described(documentReference(content), {
      type: 'string',
      minLength: 1,
      description: 'A list of endpoints in JSON or YAML, followed while the host runs.',
    }),
  });
const listFile = fileOf(list);
const httpsListFile = fileOf(httpsList);

/** A list, or a file with one, which must match the rest of the config. */
const endpoints = described(
  dynamic<EndpointEntry[] | { file: string }>((value, { branch }): AnyStruct => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return list;
    const config: unknown = branch.at(-2);
    const hasTls = typeof config === 'object' && config !== null && 'tls' in config;
    return hasTls ? httpsListFile : listFile;
  }),
  {
    ...when({ type: 'object' }, listFile, list),
    description: 'Replicas of the provider, or the file that lists them.',
  },
);

const HASH_HEADER = when(
  { required: ['strategy'], properties: { strategy: { const: 'consistent_hash' } } },
  { required: ['hash_header'] },
  { properties: { hash_header: false } },
);
// Not `const`, so that the schema is a constraint and does not declare the property.
const HTTPS_NAME = { required: ['scheme'], properties: { scheme: { pattern: '^https$' } } };
const HTTPS = { pattern: '^[hH][tT][tT][pP][sS]:' };
const HTTPS_ENDPOINT = when(
  { type: 'string' },
  HTTPS,
  when({ required: ['url'] }, { properties: { url: HTTPS } }, HTTPS_NAME),
);
const TLS_ENDPOINTS = when(
  { required: ['tls'] },
  { properties: { endpoints: { items: HTTPS_ENDPOINT } } },
);

/** `provider.config` of kind `http`. */
export const httpConfig = described(
  refine(
    refine(
      object({
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
        ...shared,
      }),
      'a mapping with hash_header for strategy consistent_hash, and for no other',
      (value) => (value.strategy === 'consistent_hash') === (value.hash_header !== undefined),
    ),
    'a mapping with tls only if all endpoints are https',
    (value) =>
      value.tls === undefined || !Array.isArray(value.endpoints) || value.endpoints.every(isHttps),
  ),
  { allOf: [HASH_HEADER, TLS_ENDPOINTS] },
);

/** `provider.config` of kind `unix`: `socket` is absolute or relative to the descriptor. */
export const unixConfig = object({
  socket: described(
    define<string>(
      'path of a socket',
      (value) => typeof value === 'string' && /^[^\0\n]+$/.test(value),
    ),
    {
      type: 'string',
      pattern: '^[^\\u0000\\n]+$',
      description: 'Path of the socket, absolute or relative to the descriptor.',
    },
  ),
  ...shared,
});

export type HttpConfig = Infer<typeof httpConfig>;
export type UnixConfig = Infer<typeof unixConfig>;
export type AuthConfig = Infer<typeof auth>;
export type TlsConfig = Infer<typeof tls>;
