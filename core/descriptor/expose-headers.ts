import { HOP_BY_HOP, normalizeHeaderName, REQUEST_IDS } from '../lib/header-names.js';

/**
 * `envelope`: 200 with eight members, one of them the provider's JSON. `raw`: the provider's own status and
 * JSON.
 */
export const RESPONSE_MODES = ['envelope', 'raw'] as const;

type ResponseMode = (typeof RESPONSE_MODES)[number];

/** The parts of a response that callers receive. */
export interface Responses {
  readonly mode: ResponseMode;
  /** Response headers of the provider that callers receive; lower-case names. */
  readonly expose_headers: readonly string[];
  /** Other origins of the provider. */
  readonly origins: readonly string[];
  /** The word `module`, and origins. */
  readonly redirects: readonly string[];
}

/** Allows redirects to a path below an endpoint of the module. */
export const MODULE_REDIRECTS = 'module';

/** The exposed headers of a descriptor that names none. */
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

/** Whether callers receive the envelope without headers of the provider. */
export function isPlainEnvelope({ mode, expose_headers }: Responses): boolean {
  return mode === 'envelope' && expose_headers.length === 0;
}

/** Headers for framing and connections, and those that would apply to the origin of the host. */
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

/**
 * The reason why a header must not be listed in `responses.expose_headers`; `null` if it may be.
 */
export function explainUnexposable(name: string): string | null {
  const plain = normalizeHeaderName(name);
  if (DENIED_HEADERS.has(plain)) return 'callers never get this header';
  const prefix = DENIED_PREFIXES.find((start) => plain.startsWith(start));
  return prefix === undefined ? null : `callers never get headers that start with ${prefix}`;
}
