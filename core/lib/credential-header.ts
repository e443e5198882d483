/** Framing, routing and hop-by-hop headers, and those that the host forwards or sets with its own meaning. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'keep-alive',
  'last-event-id',
  'origin',
  'prefer',
  'proxy-connection',
  'range',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-correlation-id',
  'x-request-id',
]);

const RESERVED_PREFIXES = ['access-control-', 'content-', 'modgate-', 'sec-'];

/** A field name of RFC 9110, section 5.6.2, without the wildcard of CORS. */
const NAME = /^(?!\*$)[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

export function isHeaderName(name: string): boolean {
  return NAME.test(name);
}

/** Why a header cannot hold credentials; `null` if it can. */
export function explainReservedHeader(name: string): string | null {
  // Many servers treat `x_y` and `x-y` as one name.
  const plain = name.toLowerCase().replaceAll('_', '-');
  const isReserved =
    RESERVED.has(plain) || RESERVED_PREFIXES.some((prefix) => plain.startsWith(prefix));
  return isReserved ? 'must not be a header with another meaning for the host' : null;
}
