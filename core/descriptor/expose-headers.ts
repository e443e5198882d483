import { HOP_BY_HOP, normalizeHeaderName, REQUEST_IDS } from '../lib/header-names.js';
import type { ResponseMode, Responses } from './descriptor.js';

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

/** Whether callers get the envelope without headers of the provider. */
export function isPlainEnvelope({ mode, exposeHeaders }: Responses): boolean {
  return mode === 'envelope' && exposeHeaders.length === 0;
}

/** Framing, connections, and what a provider must not decide for the origin of the host. */
const DENIED_HEADERS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...REQUEST_IDS,
  'alt-svc',
  'clear-site-data',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'server',
  'service-worker-allowed',
  'set-cookie',
  'strict-transport-security',
  'via',
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
  const plain = normalizeHeaderName(name);
  if (DENIED_HEADERS.has(plain)) return 'callers never get this header';
  const prefix = DENIED_PREFIXES.find((start) => plain.startsWith(start));
  return prefix === undefined ? null : `callers never get headers that start with ${prefix}`;
}
