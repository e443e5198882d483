/** Headers of one connection (RFC 9110, 7.6.1). */
export const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const;

/** Client headers that every provider receives unchanged. */
export const ALWAYS_FORWARDED = [
  'accept-language',
  'idempotency-key',
  'if-match',
  'prefer',
] as const;

/** Conditions beside `if-match`; `listConditions` lists those that are forwarded. */
export const CONDITIONAL = ['if-none-match', 'if-modified-since', 'if-unmodified-since'] as const;
/** Without them, a write that is to create or to change nothing newer would do so. */
const OF_WRITES = ['if-none-match', 'if-unmodified-since'] as const;
const NO_CONDITIONS: readonly string[] = [];

/**
 * The conditions of a request that its provider receives. The envelope has no 304, which a read
 * with conditions could get.
 */
export function listConditions(method: string, isRaw: boolean): readonly string[] {
  if (isRaw) return CONDITIONAL;
  return method === 'GET' || method === 'HEAD' ? NO_CONDITIONS : OF_WRITES;
}

/** Headers that describe a byte body, which are forwarded unchanged. */
export const BYTE_BODY_HEADERS = [
  'content-type',
  'content-encoding',
  'content-disposition',
  'content-range',
  'content-language',
  'content-md5',
  'content-digest',
] as const;

/** Request headers about the requested bytes. */
export const BYTE_REQUEST_HEADERS = ['accept', 'range', 'if-range'] as const;

/** Request headers about the requested events. */
export const EVENT_REQUEST_HEADERS = ['accept', 'last-event-id'] as const;

export const REQUEST_IDS = ['x-correlation-id', 'x-request-id'] as const;

export const TRACE_CONTEXT = ['traceparent', 'tracestate'] as const;

/** Headers for which providers receive the host's own value. */
export const SET_BY_HOST = ['accept-encoding', ...TRACE_CONTEXT, ...REQUEST_IDS] as const;

/** Keeps nginx and similar proxies from holding events back: the name and its value. */
export const UNBUFFERED = ['x-accel-buffering', 'no'] as const;

/** A field name of RFC 9110, 5.6.2. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/**
 * Lower-cases a name, and gives `x_y` and `x-y`, which many servers treat as one name, the same
 * spelling.
 */
export function normalizeHeaderName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
