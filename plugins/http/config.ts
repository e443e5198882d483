import { array, define, enums, type Infer, object, refine, type Struct, size } from 'superstruct';
import type { HealthChecks } from '../../core/contract/index.js';
import { described, named, optionally, when } from '../shared/described.js';
import { auth, tls } from './credentials-config.js';
import { endpoint, endpointId, isHttps } from './endpoint-config.js';
import { headerName } from './header-name.js';

/** The default of `manifest_path`. */
export const DEFAULT_MANIFEST_PATH = '/.well-known/modgate/manifest.json';

/** A host picks among replicas for each call: more than this is the work of a load balancer. */
const MAX_ENDPOINTS = 64;

export const HEALTH_DEFAULTS: HealthChecks = {
  intervalMs: 5_000,
  timeoutMs: 1_000,
  failures: 2,
  successes: 1,
};

const STRATEGIES = ['round_robin', 'least_in_flight', 'consistent_hash'] as const;

const ORIGIN_FORM = /^\/[!-"$-~]*$/;

/** An origin-form target: what follows the authority in a URL, without a fragment. */
const requestPath = named(
  'requestPath',
  described(
    define<string>(
      'path that starts with a slash, of visible ASCII without a fragment',
      (value) => typeof value === 'string' && ORIGIN_FORM.test(value),
    ),
    { type: 'string', pattern: ORIGIN_FORM.source },
  ),
);

export const manifestPath = optionally(requestPath, {
  default: DEFAULT_MANIFEST_PATH,
  description: 'Where the provider serves its manifest, for manifest: { from: provider }.',
});

/** Active checks; a host that finds no `health` makes none. Times in milliseconds. */
export const health = named(
  'health',
  described(
    object({
      path: optionally(requestPath, { description: 'Target of GET. Default: only a connection.' }),
      interval_ms: optionally(integerBetween(100, 3_600_000), {
        default: HEALTH_DEFAULTS.intervalMs,
        description: 'From the start of one check to the start of the next. Milliseconds.',
      }),
      timeout_ms: optionally(integerBetween(10, 60_000), {
        default: HEALTH_DEFAULTS.timeoutMs,
        description: 'Time for one check. Milliseconds.',
      }),
      failures: optionally(integerBetween(1, 100), {
        default: HEALTH_DEFAULTS.failures,
        description: 'Failed checks in a row after which an endpoint gets no calls.',
      }),
      successes: optionally(integerBetween(1, 100), {
        default: HEALTH_DEFAULTS.successes,
        description: 'Passed checks in a row after which it gets calls again.',
      }),
    }),
    { description: 'Active checks of each endpoint; none without it.' },
  ),
);

const shared = {
  health: optionally(health, {}),
  auth: optionally(auth, {}),
  manifest_path: manifestPath,
};

const endpoints = described(
  refine(
    size(array(named('endpoint', endpoint)), 1, MAX_ENDPOINTS),
    'a list of endpoints that differ',
    (values) => new Set(values.map(endpointId)).size === values.length,
  ),
  { minItems: 1, maxItems: MAX_ENDPOINTS, description: 'Replicas of the provider.' },
);

const HASH_HEADER = when(
  { required: ['strategy'], properties: { strategy: { const: 'consistent_hash' } } },
  { required: ['hash_header'] },
  { properties: { hash_header: false } },
);
const HTTPS = { pattern: '^[hH][tT][tT][pP][sS]:' };
const HTTPS_ENDPOINT = when({ type: 'string' }, HTTPS, { properties: { url: HTTPS } });
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
        strategy: optionally(enums(STRATEGIES), {
          default: STRATEGIES[0],
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
    (value) => value.tls === undefined || value.endpoints.every(isHttps),
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

export function integerBetween(min: number, max: number): Struct<number, null> {
  return described(
    define<number>(
      `integer between ${min} and ${max}`,
      (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
    ),
    { type: 'integer', minimum: min, maximum: max },
  );
}
