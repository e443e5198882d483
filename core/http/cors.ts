import type { CorsSettings } from '../config/cors.js';
import {
  ALWAYS_FORWARDED,
  BYTE_BODY_HEADERS,
  BYTE_REQUEST_HEADERS,
  CONDITIONAL,
  EVENT_REQUEST_HEADERS,
  REQUEST_IDS,
  TRACE_CONTEXT,
} from '../lib/header-names.js';
import { Reply } from '../operations/reply.js';
import {
  type ParsedTarget,
  type RequestFacts,
  readBridgePermission,
} from '../operations/request.js';
import type { CallerHeaders } from './request/caller-headers.js';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

const METHOD_NAMES: ReadonlySet<string> = new Set(METHODS.split(', '));

/** Request headers that pages may always send: what the host reads or forwards by itself. */
const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  ...ALWAYS_FORWARDED,
  ...CONDITIONAL,
  ...BYTE_BODY_HEADERS,
  ...BYTE_REQUEST_HEADERS,
  ...EVENT_REQUEST_HEADERS,
  ...REQUEST_IDS,
  ...TRACE_CONTEXT,
]);

/** Response headers of the host that pages may read. */
const HOST_HEADERS = [
  'x-request-id',
  'x-correlation-id',
  'retry-after',
  'www-authenticate',
  'modgate-origin',
];

/** Response headers with the remaining rates. */
const RATE_HEADERS = ['ratelimit', 'ratelimit-policy'];

/** Routes of the host that pages of other origins may call, with the headers that they expose. */
const HOST_PATHS: ReadonlyMap<string, readonly string[]> = new Map([['/openapi.json', ['etag']]]);

interface PageRequest {
  readonly method: string;
  /** The target as on the request line. */
  readonly target: string;
  readonly headers: CallerHeaders;
  readonly facts: Pick<RequestFacts, 'preflightGap'>;
}

/**
 * Handles cross-origin requests of browsers (Fetch standard, section 3.3): to forwarded routes and
 * some routes of the host, never to the console bridge. The host's other paths ignore this setting.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #allowedHeaders: ReadonlySet<string>;
  readonly #preflightHeaders: readonly string[];
  readonly #hasCredentials: boolean;

  constructor(settings: CorsSettings, tokenHeader: string | null) {
    const { origins, headers, maxAgeSeconds, credentials } = settings;
    const ofToken = tokenHeader === null ? [] : [tokenHeader];
    const allowed = new Set([...REQUEST_HEADERS, ...ofToken, ...headers]);
    this.#allowedHeaders = allowed;
    this.#origins = new Set(origins);
    this.#hasCredentials = credentials;
    this.#preflightHeaders = [
      ...['access-control-allow-methods', METHODS],
      ...['access-control-allow-headers', [...allowed].join(', ')],
      ...['access-control-max-age', String(maxAgeSeconds)],
    ];
  }

  /** The reply to a preflight of a configured origin; `null` for any other request. */
  answerPreflight(parsed: ParsedTarget, request: PageRequest): Reply | null {
    const { method, target, headers, facts } = request;
    if (method !== 'OPTIONS' || !this.#findOrigin(headers)) return null;
    const requestedMethod = headers.get('access-control-request-method');
    if (requestedMethod === undefined || findExposedHeaders(parsed, target) === null) return null;
    facts.preflightGap = this.#findGap(requestedMethod, headers);
    return Reply.preflight(this.#preflightHeaders);
  }

  /** Finds the requested part that is not allowed; the browser then does not send the request. */
  #findGap(method: string, headers: CallerHeaders): RequestFacts['preflightGap'] {
    if (!METHOD_NAMES.has(method)) return 'method';
    const names = (headers.get('access-control-request-headers') ?? '').toLowerCase().split(',');
    const isAllowed = (name: string) => name === '' || this.#allowedHeaders.has(name);
    return names.map((name) => name.trim()).every(isAllowed) ? null : 'headers';
  }

  /** Adds the headers without which the browser hides the reply from the page. */
  complete(reply: Reply, parsed: ParsedTarget, { target, headers }: PageRequest): Reply {
    const exposed = findExposedHeaders(parsed, target);
    if (exposed === null) return reply;
    const varied = addVary(reply.headers);
    const origin = this.#findOrigin(headers);
    if (origin === null) return Reply.withHeaders(reply, varied);
    const ofRates = reply.headers.includes('ratelimit') ? RATE_HEADERS : [];
    const readable = new Set([...HOST_HEADERS, ...ofRates, ...exposed, ...(reply.exposed ?? [])]);
    return Reply.withHeaders(reply, [
      ...varied,
      ...['access-control-allow-origin', origin],
      ...['access-control-expose-headers', [...readable].join(', ')],
      ...(this.#hasCredentials ? ['access-control-allow-credentials', 'true'] : []),
    ]);
  }

  /** The origin of the page, if it is configured. */
  #findOrigin(headers: CallerHeaders): string | null {
    const origin = headers.get('origin');
    return origin !== undefined && this.#origins.has(origin) ? origin : null;
  }
}

/**
 * The headers that the host itself exposes on a path for pages of other origins; `null` for any
 * other path.
 */
function findExposedHeaders(parsed: ParsedTarget, target: string): readonly string[] | null {
  if (parsed.kind === 'host') return HOST_PATHS.get(target.split('?', 1)[0] ?? '') ?? null;
  return parsed.kind === 'module' && readBridgePermission(parsed) !== null ? null : [];
}

/** Prevents shared caches from using the reply for one origin for another. */
function addVary(headers: readonly string[]): readonly string[] {
  const varyIndex = headers.findIndex((text, index) => index % 2 === 0 && text === 'vary');
  if (varyIndex === -1) return [...headers, 'vary', 'origin'];
  const before = headers[varyIndex + 1] ?? '';
  const names = before.split(',').map((name) => name.trim().toLowerCase());
  return names.includes('origin') || names.includes('*')
    ? headers
    : headers.with(varyIndex + 1, `${before}, origin`);
}
