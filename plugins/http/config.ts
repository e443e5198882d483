import { isIP } from 'node:net';
import {
  array,
  define,
  dynamic,
  enums,
  type Infer,
  object,
  optional,
  refine,
  type Struct,
  size,
} from 'superstruct';
import { fileReference, secretReference } from '../../core/contract/index.js';
import { type AnyStruct, endpoint, endpointId, isHttps } from './endpoint-config.js';
import { headerName, isCredentialHeader } from './header-name.js';

/** Where a provider serves its manifest unless `manifest_path` says otherwise (contract 5). */
export const DEFAULT_MANIFEST_PATH = '/.well-known/modgate/manifest.json';

/** A host picks among replicas for each call: more than this is the work of a load balancer. */
const MAX_ENDPOINTS = 64;

/** The key of today, the one of tomorrow, and room for a fleet of replicas with keys of their own. */
const MAX_PINS = 128;

const STRATEGIES = ['round_robin', 'least_in_flight', 'consistent_hash'] as const;

const ORIGIN_FORM = /^\/[!-"$-~]*$/;
const SPKI_PIN = /^[A-Za-z0-9+/]{43}=$/;

/** An origin-form target: what follows the authority in a URL, without a fragment. */
export const requestPath = define<string>(
  'path that starts with a slash, of visible ASCII without a fragment',
  (value) => typeof value === 'string' && ORIGIN_FORM.test(value),
);

const username = define<string>(
  'user name without a colon or a control character',
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  (value) => typeof value === 'string' && /^[^:\u0000-\u001f\u007f]+$/.test(value),
);

/** RFC 6066, section 3: a DNS name, never an address. */
const serverName = define<string>(
  'name of a server, not an address',
  (value) =>
    typeof value === 'string' &&
    /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(value) &&
    isIP(value) === 0,
);

const spkiPin = define<string>(
  'base64 SHA-256 of a public key (44 characters)',
  (value) => typeof value === 'string' && SPKI_PIN.test(value),
);

const spkiPins = dynamic<string | string[]>(
  (value): AnyStruct => (Array.isArray(value) ? size(array(spkiPin), 1, MAX_PINS) : spkiPin),
);

/** Active checks; a host that finds no `health` makes none. Times in milliseconds. */
export const health = object({
  path: optional(requestPath),
  interval_ms: optional(integerBetween(100, 3_600_000)),
  timeout_ms: optional(integerBetween(10, 60_000)),
  failures: optional(integerBetween(1, 100)),
  successes: optional(integerBetween(1, 100)),
});

const auth = refine(
  object({
    bearer: optional(secretReference()),
    basic: optional(object({ username, password: secretReference() })),
    header: optional(
      object({
        name: refine(
          headerName,
          'header name that is not hop-by-hop, host, content-* or modgate-*',
          isCredentialHeader,
        ),
        value: secretReference(),
      }),
    ),
  }),
  'exactly one of bearer, basic and header',
  (value) => Object.values(value).filter((part) => part !== undefined).length === 1,
);

const tls = refine(
  object({
    ca: optional(fileReference()),
    cert: optional(fileReference()),
    key: optional(fileReference()),
    servername: optional(serverName),
    pin_sha256: optional(spkiPins),
  }),
  'a mapping with cert and key together, or with neither',
  (value) => (value.cert === undefined) === (value.key === undefined),
);

const shared = {
  health: optional(health),
  auth: optional(auth),
  manifest_path: optional(requestPath),
};

const endpoints = refine(
  size(array(endpoint), 1, MAX_ENDPOINTS),
  'a list of endpoints that differ',
  (values) => new Set(values.map(endpointId)).size === values.length,
);

/** `provider.config` of kind `http` (contract 6 and 9). */
export const httpConfig = refine(
  refine(
    object({
      endpoints,
      strategy: optional(enums(STRATEGIES)),
      hash_header: optional(headerName),
      tls: optional(tls),
      ...shared,
    }),
    'a mapping with hash_header for strategy consistent_hash, and for no other',
    (value) => (value.strategy === 'consistent_hash') === (value.hash_header !== undefined),
  ),
  'a mapping with tls only if all endpoints are https',
  (value) => value.tls === undefined || value.endpoints.every(isHttps),
);

/** `provider.config` of kind `unix`: `socket` is absolute or relative to the descriptor. */
export const unixConfig = object({
  socket: define<string>(
    'path of a socket',
    (value) => typeof value === 'string' && /^[^\0\n]+$/.test(value),
  ),
  ...shared,
});

export type HttpConfig = Infer<typeof httpConfig>;
export type UnixConfig = Infer<typeof unixConfig>;
export type AuthConfig = Infer<typeof auth>;
export type TlsConfig = Infer<typeof tls>;

export function integerBetween(min: number, max: number): Struct<number, null> {
  return define<number>(
    `integer between ${min} and ${max}`,
    (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  );
}
