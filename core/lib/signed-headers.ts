import {
  HEADER_NAME,
  HOP_BY_HOP,
  normalizeHeaderName,
  REQUEST_IDS,
  TRACE_CONTEXT,
} from './header-names.js';

/** A field value without obs-text (RFC 9110, 5.5). */
const HEADER_VALUE = /^[\x20-\x7e]*$/;

const NOT_SIGNED: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'expect'],
  ...[...HOP_BY_HOP, ...REQUEST_IDS, ...TRACE_CONTEXT],
]);
const OF_HOST = /^(?:modgate|proxy)-/;

/** The reason why a signer may not set the header; `null` if it may. */
export function findSignedHeaderProblem(name: string, value: unknown): string | null {
  if (!HEADER_NAME.test(name)) return 'it returned an invalid header name';
  const plain = normalizeHeaderName(name);
  if (NOT_SIGNED.has(plain) || OF_HOST.test(plain)) return `it must not set the header '${plain}'`;
  if (typeof value === 'string' && HEADER_VALUE.test(value)) return null;
  return `the header '${plain}' must be one line of printable ASCII`;
}
