import type { Attributes } from '@opentelemetry/api';

/** https://opentelemetry.io/docs/specs/semconv/registry/attributes/http/#http-request-method */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
]);

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
]);

/** Unknown methods are reported as `_OTHER`: a caller must not be able to create span names. */
export function nameMethod(method: string): {
  readonly name: string;
  readonly attributes: Attributes;
} {
  if (KNOWN_METHODS.has(method)) {
    return { name: method, attributes: { 'http.request.method': method } };
  }
  const attributes = { 'http.request.method': '_OTHER', 'http.request.method_original': method };
  return { name: 'HTTP', attributes };
}

/** The endpoint of an attempt; one that is not a URL has no address and no port. */
export function describeServer(endpoint: string): Attributes {
  return {
    'modgate.endpoint': endpoint,
    ...(URL.canParse(endpoint) && describeAddress(new URL(endpoint))),
  };
}

/** Address and port of a `host` header that has been validated. */
export function readAuthority(scheme: 'http' | 'https', host: string | undefined): Attributes {
  const url = `${scheme}://${host}`;
  if (host === undefined || !URL.canParse(url)) return {};
  return describeAddress(new URL(url)) ?? {};
}

function describeAddress({ protocol, hostname, port }: URL): Attributes | null {
  const defaultPort = DEFAULT_PORTS.get(protocol);
  if (defaultPort === undefined) return null;
  return {
    'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
    'server.port': port === '' ? defaultPort : Number(port),
  };
}
