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
import { isMetadataTarget } from './surfaces/protected-resource.js';

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

/** How pages of other origins may use a path. */
interface PageAccess {
  readonly methods: readonly string[];
  /** Request headers beyond those that are always allowed. */
  readonly requestHeaders: readonly string[];
  /** Response headers of the host beyond those of every path. */
  readonly exposed: readonly string[];
}

const ROUTE_ACCESS: PageAccess = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  requestHeaders: [],
  exposed: [],
};

/** Routes of the host that pages of other origins may call. */
const HOST_ACCESS: ReadonlyMap<string, PageAccess> = new Map([
  ['/openapi.json', { ...ROUTE_ACCESS, exposed: ['etag'] }],
]);

/** Surfaces whose clients discover where to sign in: the Model Context Protocol. */
const SURFACE_ACCESS: PageAccess = {
  methods: ['GET', 'POST', 'DELETE'],
  requestHeaders: ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'],
  exposed: ['mcp-session-id'],
};

/** For a public document: everything is allowed except credentials. */
const PUBLIC_PREFLIGHT = [
  ...['access-control-allow-methods', 'GET, HEAD'],
  ...['access-control-allow-headers', '*'],
  ...['access-control-max-age', '86400'],
];
const PUBLIC_HEADERS = ['access-control-allow-origin', '*', 'access-control-expose-headers', '*'];

interface PageRequest {
  readonly method: string;
  /** The target as on the request line. */
  readonly target: string;
  readonly parsed: ParsedTarget;
  readonly headers: CallerHeaders;
  readonly facts: Pick<RequestFacts, 'preflightGap'>;
}

interface Surfaces {
  find(target: string): { readonly isProtectedResource: boolean } | null;
  findProtectedPrefix(): string | null;
}

/**
 * Handles cross-origin requests of browsers (Fetch standard, section 3.3): to forwarded routes,
 * surfaces for agents and some routes of the host, never to the console bridge. The host's other
 * paths ignore the setting. The metadata of RFC 9728 is readable by pages of any origin.
 */
export class Cors {
  readonly #settings: CorsSettings | null;
  readonly #origins: ReadonlySet<string>;
  readonly #allowedHeaders: readonly string[];
  readonly #surfaces: Surfaces;

  /** @param settings `null` if pages of other origins may call nothing */
  constructor(settings: CorsSettings | null, tokenHeader: string | null, surfaces: Surfaces) {
    const ofToken = tokenHeader === null ? [] : [tokenHeader];
    this.#settings = settings;
    this.#origins = new Set(settings?.origins);
    this.#allowedHeaders = [
      ...new Set([...REQUEST_HEADERS, ...ofToken, ...(settings?.headers ?? [])]),
    ];
    this.#surfaces = surfaces;
  }

  /** The reply to a preflight of a configured origin; `null` for any other request. */
  answerPreflight(request: PageRequest): Reply | null {
    const { method, headers, facts } = request;
    const requestedMethod = headers.get('access-control-request-method');
    if (method !== 'OPTIONS' || requestedMethod === undefined) return null;
    if (headers.get('origin') !== undefined && this.#isPublic(request)) {
      return Reply.preflight(PUBLIC_PREFLIGHT);
    }
    const access = this.#isListed(headers) ? this.#findAccess(request) : null;
    if (access === null) return null;
    const allowed = [...this.#allowedHeaders, ...access.requestHeaders];
    facts.preflightGap = findGap(requestedMethod, headers, access.methods, allowed);
    return Reply.preflight([
      ...['access-control-allow-methods', access.methods.join(', ')],
      ...['access-control-allow-headers', allowed.join(', ')],
      ...['access-control-max-age', String(this.#settings?.maxAgeSeconds)],
    ]);
  }

  /** Adds the headers without which the browser hides the reply from the page. */
  complete(reply: Reply, request: PageRequest): Reply {
    const headers = this.addHeaders(reply.headers, request, reply.exposed ?? []);
    return headers === reply.headers ? reply : Reply.withHeaders(reply, headers);
  }

  /** Like `complete`, for the head of a response: names and values in turn. */
  addHeaders(
    headers: readonly string[],
    request: PageRequest,
    exposed: readonly string[] = [],
  ): readonly string[] {
    if (this.#isPublic(request)) return [...headers, ...PUBLIC_HEADERS];
    const access = this.#findAccess(request);
    if (access === null) return headers;
    const varied = addVary(headers);
    if (!this.#isListed(request.headers)) return varied;
    const ofRates = headers.includes('ratelimit') ? RATE_HEADERS : [];
    const readable = new Set([...HOST_HEADERS, ...ofRates, ...access.exposed, ...exposed]);
    return [
      ...varied,
      ...['access-control-allow-origin', request.headers.get('origin') ?? ''],
      ...['access-control-expose-headers', [...readable].join(', ')],
      ...(this.#settings?.credentials ? ['access-control-allow-credentials', 'true'] : []),
    ];
  }

  /** Whether a page of a configured origin sent the request to a path that it may call. */
  isFromListedPage(request: PageRequest): boolean {
    return this.#isListed(request.headers) && this.#findAccess(request) !== null;
  }

  #isListed(headers: CallerHeaders): boolean {
    return this.#origins.has(headers.get('origin') ?? '');
  }

  #isPublic({ parsed, target }: PageRequest): boolean {
    return (
      parsed.kind === 'host' &&
      isMetadataTarget(target) &&
      this.#surfaces.findProtectedPrefix() !== null
    );
  }

  /** Returns `null` for a path that pages of other origins may not call. */
  #findAccess({ parsed, target }: PageRequest): PageAccess | null {
    if (this.#settings === null) return null;
    if (parsed.kind === 'module' && readBridgePermission(parsed) !== null) return null;
    if (parsed.kind !== 'host') return ROUTE_ACCESS;
    const ofHost = HOST_ACCESS.get(target.split('?', 1)[0] ?? '');
    if (ofHost !== undefined) return ofHost;
    return this.#surfaces.find(target)?.isProtectedResource ? SURFACE_ACCESS : null;
  }
}

/** Finds the requested part that is not allowed; the browser then does not send the request. */
function findGap(
  method: string,
  headers: CallerHeaders,
  methods: readonly string[],
  allowed: readonly string[],
): RequestFacts['preflightGap'] {
  if (!methods.includes(method)) return 'method';
  const names = (headers.get('access-control-request-headers') ?? '').toLowerCase().split(',');
  const isAllowed = (name: string) => name === '' || allowed.includes(name);
  return names.map((name) => name.trim()).every(isAllowed) ? null : 'headers';
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
