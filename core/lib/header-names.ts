/** They belong to one connection (RFC 9110, 7.6.1). */
export const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const;

/** Every provider gets these of the client unchanged. */
export const ALWAYS_FORWARDED = [
  'accept-language',
  'idempotency-key',
  'if-match',
  'prefer',
] as const;

/** Forwarded in raw mode, where the caller gets the provider's 304 and 412. */
export const CONDITIONAL = ['if-none-match', 'if-modified-since', 'if-unmodified-since'] as const;

/** What describes a body of bytes; they reach the provider as they came. */
export const OF_BYTES = [
  'content-type',
  'content-encoding',
  'content-disposition',
  'content-range',
  'content-language',
  'content-md5',
  'content-digest',
] as const;

/** What a client says of the bytes that it wants. */
export const FOR_BYTES = ['accept', 'range', 'if-range'] as const;

/** What a client says of the events that it wants. */
export const FOR_EVENTS = ['accept', 'last-event-id'] as const;

export const REQUEST_IDS = ['x-correlation-id', 'x-request-id'] as const;

export const TRACE_CONTEXT = ['traceparent', 'tracestate'] as const;

/** Providers get the host's own value of these. */
export const SET_BY_HOST = ['accept-encoding', ...TRACE_CONTEXT, ...REQUEST_IDS] as const;

/** A field name of RFC 9110, 5.6.2. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Lower case, and one spelling of `x_y` and `x-y`, which many servers treat as one name. */
export function normalizeHeaderName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
