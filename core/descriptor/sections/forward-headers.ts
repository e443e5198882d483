import { boolean } from 'superstruct';
import { withDefault } from '../../contract/described.js';
import type { Violation } from '../../document/diagnostic.js';
import {
  ALWAYS_FORWARDED,
  HOP_BY_HOP,
  normalizeHeaderName,
  SET_BY_HOST,
} from '../../lib/header-names.js';
import { headerNames, validateHeaderNames } from '../header-lists.js';
import { defineSection } from '../section.js';

/** Credentials, framing and routing, and the hop-by-hop headers of RFC 9110, 7.6.1. */
const DENIED_HEADERS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'range',
]);

const DENIED_PREFIXES = ['content-', 'modgate-', 'sec-websocket-', 'x-forwarded-'];

/**
 * The reason why a header must not be listed in `forward_headers`; `null` if it may be.
 * @param credentialHeaders headers with credentials of callers, in lower case
 */
export function explainDeniedHeader(
  name: string,
  credentialHeaders: readonly string[] = [],
): string | null {
  const plain = normalizeHeaderName(name);
  if (SET_BY_HOST.some((header) => header === plain)) return 'the host sets this header itself';
  if (DENIED_HEADERS.has(plain)) return 'this header is never forwarded';
  if (credentialHeaders.some((header) => normalizeHeaderName(header) === plain)) {
    return 'this header holds credentials of callers, which are never forwarded';
  }
  const prefix = DENIED_PREFIXES.find((start) => plain.startsWith(start));
  return prefix === undefined ? null : `headers that start with ${prefix} are never forwarded`;
}

export function isAlwaysForwarded(name: string): boolean {
  const plain = name.toLowerCase();
  return ALWAYS_FORWARDED.some((header) => header === plain);
}

export const forwardHeaders = defineSection({
  struct: withDefault(headerNames, [], {
    description: 'Request headers that the provider gets in addition to the usual ones.',
  }),
  validate: (names, { credentialHeaders }) =>
    validateHeaderNames(names, ['forward_headers'], {
      rule: 'refused-header',
      explain: (name) => explainDeniedHeader(name, credentialHeaders),
    }),
  warn: (names) => names.flatMap(findNeedless),
});

function findNeedless(name: string, index: number): Violation[] {
  if (!isAlwaysForwarded(name)) return [];
  const message = `'forward_headers[${index}]': the host forwards this header already`;
  const path = ['forward_headers', index];
  return [{ rule: 'needless-header', message, hint: 'remove it', path, at: 'value' }];
}

export const forwardClient = defineSection({
  struct: withDefault(boolean(), false, {
    description:
      'Whether the provider gets x-forwarded-for, -host, -proto and -prefix: the address of the client, and the one that it called.',
  }),
});
