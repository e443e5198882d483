import type { RouteParameter } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import {
  ALWAYS_FORWARDED,
  BYTE_BODY_HEADERS,
  BYTE_REQUEST_HEADERS,
  EVENT_REQUEST_HEADERS,
  listConditions,
  REQUEST_IDS,
  TRACE_CONTEXT,
} from '../lib/header-names.js';
import type { LiveRoute } from '../modules/live-module.js';

/** Lists the unchecked parameters of a route, of headers those that reach its provider. */
export function listShownParameters(
  { responses, forward_headers }: Pick<Descriptor, 'responses' | 'forward_headers'>,
  { declared, bodyBytes, responseBytes, stream }: LiveRoute,
): readonly RouteParameter[] {
  const { parameters = [] } = declared.operation ?? {};
  if (parameters.length === 0) return parameters;
  const seen = new Set<string>([
    ...ALWAYS_FORWARDED,
    ...REQUEST_IDS,
    ...TRACE_CONTEXT,
    ...listConditions(declared.method, responses.mode === 'raw'),
    ...(bodyBytes === null ? [] : BYTE_BODY_HEADERS),
    ...(responseBytes === null ? [] : BYTE_REQUEST_HEADERS),
    ...(stream === null ? [] : EVENT_REQUEST_HEADERS),
    ...forward_headers.map((name) => name.toLowerCase()),
  ]);
  return parameters.filter(
    ({ in: place, name }) => place === 'query' || seen.has(name.toLowerCase()),
  );
}
