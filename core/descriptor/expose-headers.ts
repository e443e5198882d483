import type { ResponseMode } from './descriptor.js';

/** What callers get of a provider's headers where the descriptor names none. */
export const DEFAULT_EXPOSED: Readonly<Record<ResponseMode, readonly string[]>> = {
  envelope: [],
  raw: [
    'etag',
    'last-modified',
    'location',
    'link',
    'cache-control',
    'vary',
    'retry-after',
    'content-language',
    'x-total-count',
  ],
};

/** Framing, connections, and what a provider must not decide for the origin of the host. */
const DENIED_HEADERS = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'server',
  'service-worker-allowed',
  'set-cookie',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-correlation-id',
  'x-request-id',
]);

const DENIED_PREFIXES = [
  'access-control-',
  'content-security-policy',
  'modgate-',
  'proxy-',
  'surrogate-',
];

/** Why a header must not be listed in `responses.expose_headers`; `null` if it may be. */
export function explainUnexposable(name: string): string | null {
  // Many servers treat `x_y` and `x-y` as one name, so both spellings are rejected.
  const plain = name.toLowerCase().replaceAll('_', '-');
  if (DENIED_HEADERS.has(plain)) return 'callers never get this header';
  const prefix = DENIED_PREFIXES.find((start) => plain.startsWith(start));
  return prefix === undefined ? null : `callers never get headers that start with ${prefix}`;
}
