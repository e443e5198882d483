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

/** A method that the conventions do not know must not make a name of its own: `_OTHER`. */
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

/** Where an attempt went; what is no URL has no address and no port. */
export function describeServer(endpoint: string): Attributes {
  const attributes = { 'modgate.endpoint': endpoint };
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  const defaultPort = DEFAULT_PORTS.get(url?.protocol ?? '');
  if (url === null || defaultPort === undefined) return attributes;
  return { ...attributes, ...address(url, defaultPort) };
}

/** Whom the caller meant: of a `host` header, which was judged before. */
export function readAuthority(host: string | undefined): Attributes {
  if (host === undefined || !URL.canParse(`http://${host}`)) return {};
  return address(new URL(`http://${host}`), 80);
}

function address({ hostname, port }: URL, defaultPort: number): Attributes {
  return {
    'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
    'server.port': port === '' ? defaultPort : Number(port),
  };
}
