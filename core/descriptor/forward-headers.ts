/** Credentials, framing and routing, and the hop-by-hop headers of RFC 9110, 7.6.1. */
const DENIED_HEADERS = new Set([
  'authorization',
  'connection',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const DENIED_PREFIXES = ['content-', 'modgate-', 'x-forwarded-'];

/** The host sends its own value of these. */
const SET_BY_HOST = new Set([
  'accept',
  'accept-encoding',
  'traceparent',
  'tracestate',
  'x-correlation-id',
  'x-request-id',
]);

/** Every provider gets these unchanged. */
const ALWAYS_FORWARDED = new Set(['accept-language', 'idempotency-key', 'if-match', 'prefer']);

/** A field name of RFC 9110, 5.6.2. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/**
 * Why a header must not be listed in `forward_headers`; `null` if it may be.
 * @param credentialHeaders those that hold credentials of callers, in lower case
 */
export function explainDeniedHeader(
  name: string,
  credentialHeaders: readonly string[] = [],
): string | null {
  // Many servers treat `x_y` and `x-y` as one name, so both spellings are rejected.
  const plain = name.toLowerCase().replaceAll('_', '-');
  if (SET_BY_HOST.has(plain)) return 'the host sets this header itself';
  if (DENIED_HEADERS.has(plain)) return 'this header is never forwarded';
  if (credentialHeaders.some((one) => one.replaceAll('_', '-') === plain)) {
    return 'this header holds credentials of callers, which are never forwarded';
  }
  const prefix = DENIED_PREFIXES.find((start) => plain.startsWith(start));
  return prefix === undefined ? null : `headers that start with ${prefix} are never forwarded`;
}

export function isAlwaysForwarded(name: string): boolean {
  return ALWAYS_FORWARDED.has(name.toLowerCase());
}
