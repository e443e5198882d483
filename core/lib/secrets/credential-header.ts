import {
  ALWAYS_FORWARDED,
  CONDITIONAL,
  HEADER_NAME,
  HOP_BY_HOP,
  normalizeHeaderName,
  SET_BY_HOST,
} from '../header-names.js';

/**
 * Headers for framing, routing and connections, and those that the host forwards or sets itself.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...ALWAYS_FORWARDED,
  ...CONDITIONAL,
  ...SET_BY_HOST,
  'accept',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'last-event-id',
  'origin',
  'proxy-connection',
  'range',
]);

const RESERVED_PREFIXES = ['access-control-', 'content-', 'modgate-', 'sec-'];

/** Whether it is a field name, except the wildcard of CORS. */
export function isHeaderName(name: string): boolean {
  return name !== '*' && HEADER_NAME.test(name);
}

/** The reason why a header cannot hold credentials; `null` if it can. */
export function explainReservedHeader(name: string): string | null {
  const plain = normalizeHeaderName(name);
  const isReserved =
    RESERVED.has(plain) || RESERVED_PREFIXES.some((prefix) => plain.startsWith(prefix));
  return isReserved ? 'must not be a header with another meaning for the host' : null;
}
