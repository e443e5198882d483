import { define, dynamic, object, type Struct } from 'superstruct';
import { described, named, when } from '../../core/contract/described.js';
import {
  calledName,
  dnsEndpoint,
  type NamedEndpoint,
  srvEndpoint,
} from './names/named-endpoint-config.js';

// superstruct's own signature uses `any` for the schema of a struct.
// biome-ignore lint/suspicious/noExplicitAny: the two structs differ in type and schema
export type AnyStruct = Struct<any, any>;

export interface WeightedEndpoint {
  readonly url: string;
  /** Share of the calls relative to the other endpoints. */
  readonly weight: number;
}

const MAX_WEIGHT = 1_000;

/**
 * Validated as text, because a URL parser silently drops dot segments and white space. The path is
 * the prefix of every target, so it must not contain characters that a parser would rewrite.
 */
const ENDPOINT_URL = /^https?:\/\/[^/?#@\\\s]+(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)*\/?$/i;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/** A URL to which paths are appended. */
export const endpointUrlStruct = named(
  'endpointUrl',
  described(
    define<string>(
      'http or https URL without credentials, query, fragment or dot segment',
      (value) => typeof value === 'string' && isEndpointUrl(value),
    ),
    {
      type: 'string',
      pattern: ENDPOINT_URL.source.replace('https?', '[hH][tT][tT][pP][sS]?'),
      description: 'http or https, without credentials, query or fragment.',
    },
  ),
);

export const endpointWeight = described(
  define<number>(
    `integer between 1 and ${MAX_WEIGHT}`,
    (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_WEIGHT,
  ),
  {
    type: 'integer',
    minimum: 1,
    maximum: MAX_WEIGHT,
    description: 'Share of the calls relative to the other endpoints.',
  },
);

const weighted = object({
  url: described(endpointUrlStruct, {
    description: 'http or https, without credentials, query or fragment.',
  }),
  weight: endpointWeight,
});

/** An entry of `endpoints`. */
export type EndpointEntry = string | WeightedEndpoint | NamedEndpoint;

/**
 * A URL, a URL with a weight, or a name of DNS. Dynamic, because a union cannot report which key is wrong.
 */
export const endpoint = described(
  dynamic<EndpointEntry>((value): AnyStruct => {
    if (typeof value !== 'object' || value === null) return endpointUrlStruct;
    if ('dns' in value) return dnsEndpoint;
    return 'srv' in value ? srvEndpoint : weighted;
  }),
  when(
    { type: 'object' },
    when({ required: ['dns'] }, dnsEndpoint, when({ required: ['srv'] }, srvEndpoint, weighted)),
    endpointUrlStruct,
  ),
);

/** Whether its addresses are resolved while the host runs. */
export function isNamed(entry: EndpointEntry): entry is NamedEndpoint {
  return typeof entry === 'object' && !('url' in entry);
}

export function endpointUrl(entry: string | WeightedEndpoint): string {
  return typeof entry === 'string' ? entry : entry.url;
}

export function isHttps(entry: EndpointEntry): boolean {
  if (isNamed(entry)) return entry.scheme === 'https';
  return new URL(endpointUrl(entry)).protocol === 'https:';
}

/** Identifies an entry uniquely; for URLs, the id in status and metrics. */
export function endpointId(entry: EndpointEntry): string {
  if (isNamed(entry)) {
    const { scheme = 'http', path = '' } = entry;
    const port = 'dns' in entry ? entry.port : entry.srv.toLowerCase();
    return `${scheme} ${calledName(entry)} ${port} ${path.replace(/\/$/, '')}`;
  }
  const parsed = new URL(endpointUrl(entry));
  return `${parsed.origin}${pathPrefix(parsed)}`;
}

/** The prefix of every target: empty, or a path without a trailing slash. */
export function pathPrefix(parsed: URL): string {
  return parsed.pathname.replace(/\/$/, '');
}

function isEndpointUrl(text: string): boolean {
  return (
    ENDPOINT_URL.test(text) &&
    !DOT_SEGMENT.test(text) &&
    !BROKEN_ESCAPE.test(text) &&
    URL.canParse(text)
  );
}
