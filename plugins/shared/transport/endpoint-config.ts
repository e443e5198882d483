import { array, define, dynamic, object, refine, type Struct, size } from 'superstruct';
import {
  type AnyStruct,
  described,
  documentReference,
  named,
  when,
} from '../../../core/contract/index.js';
import type { EndpointEntries } from './endpoint-entries.js';
import { createNamedEndpoints } from './names/named-endpoint-config.js';
import type { EndpointEntry, EndpointsConfig } from './transport-config.js';

/** The maximum number of entries; a larger number requires a load balancer. */
const MAX_ENDPOINTS = 64;
const MAX_WEIGHT = 1_000;

/**
 * Validated as text, because a URL parser silently drops dot segments and white space. The path is
 * the prefix of every target, so it must not contain characters that a parser would rewrite. A
 * parser accepts hosts that no name or address can be, such as `${HOST}`.
 */
const PLACE_AND_PATH = String.raw`:\/\/[^/?#@\\\s!"$&'()*+,;<=>^{|}~\x60]+(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)*\/?$`;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const PLACE = String.raw`:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}$`;

/** Whether they are listed in the config itself. */
export function isList(endpoints: EndpointsConfig): endpoints is readonly EndpointEntry[] {
  return Array.isArray(endpoints);
}

const weight = described(
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

/** The structs of `endpoints`, and of the URL of one endpoint. */
export function createEndpointConfig(entries: EndpointEntries) {
  const url = createUrl(entries);
  const { dnsEndpoint, srvEndpoint } = createNamedEndpoints(entries);
  const weighted = object({ url: described(url, { description: describeUrl(entries) }), weight });
  // Dynamic, because a union cannot report which key is wrong.
  const entry = described(
    dynamic<EndpointEntry>((value): AnyStruct => {
      if (typeof value !== 'object' || value === null) return url;
      if ('dns' in value) return dnsEndpoint;
      return 'srv' in value ? srvEndpoint : weighted;
    }),
    when(
      { type: 'object' },
      when({ required: ['dns'] }, dnsEndpoint, when({ required: ['srv'] }, srvEndpoint, weighted)),
      url,
    ),
  );
  const list = described(
    refine(
      size(array(named(entries.nameDefinition('endpoint'), entry)), 1, MAX_ENDPOINTS),
      'a list of endpoints that differ',
      (values) => new Set(values.map((value) => entries.idOf(value))).size === values.length,
    ),
    { minItems: 1, maxItems: MAX_ENDPOINTS, description: 'Replicas of the provider.' },
  );
  return { url, endpoints: createListOrFile(list, entries) };
}

function createUrl(entries: EndpointEntries): Struct<string, null> {
  const { scheme, hasPaths } = entries;
  if (hasPaths) {
    const pattern = new RegExp(`^${scheme}s?${PLACE_AND_PATH}`, 'i');
    const anyCase = new RegExp(`^${matchAnyCase(scheme)}[sS]?${PLACE_AND_PATH}`);
    return named(
      entries.nameDefinition('endpointUrl'),
      described(
        define<string>(
          `${scheme} or ${scheme}s URL without credentials, query, fragment or dot segment`,
          (value) =>
            typeof value === 'string' &&
            pattern.test(value) &&
            !DOT_SEGMENT.test(value) &&
            !BROKEN_ESCAPE.test(value) &&
            entries.canParse(value),
        ),
        { type: 'string', pattern: anyCase.source, description: describeUrl(entries) },
      ),
    );
  }
  const pattern = new RegExp(`^${scheme}s?${PLACE}`);
  return described(
    define<string>(
      `${scheme}:// or ${scheme}s:// with a host and a port, without credentials`,
      (value) => typeof value === 'string' && pattern.test(value) && entries.canParse(value),
    ),
    { type: 'string', pattern: pattern.source, description: describeUrl(entries) },
  );
}

function describeUrl({ scheme, hasPaths }: EndpointEntries): string {
  const parts = hasPaths
    ? 'without credentials, query or fragment'
    : 'with host and port, without credentials';
  return `${scheme} or ${scheme}s, ${parts}.`;
}

/** A list, or a file with one, which must match the rest of the config. */
function createListOrFile(
  list: Struct<EndpointEntry[], unknown>,
  entries: EndpointEntries,
): Struct<EndpointsConfig, null> {
  const { scheme } = entries;
  const secureList = refine(list, `a list of ${scheme}s endpoints, because of tls`, (values) =>
    values.every((value) => entries.isSecure(value)),
  );
  const listFile = createFile(list);
  const secureListFile = createFile(secureList);
  return described(
    dynamic<EndpointsConfig>((value, { branch }): AnyStruct => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return list;
      const config: unknown = branch.at(-2);
      const hasTls = typeof config === 'object' && config !== null && 'tls' in config;
      return hasTls ? secureListFile : listFile;
    }),
    {
      ...when({ type: 'object' }, listFile, list),
      description: 'Replicas of the provider, or the file that lists them.',
    },
  );
}

function createFile(content: AnyStruct) {
  return object({
    file: described(documentReference(content), {
      type: 'string',
      minLength: 1,
      description: 'A list of endpoints in JSON or YAML, followed while the host runs.',
    }),
  });
}

/** The keywords by which `tls` requires endpoints with TLS. */
export function requireSecure({ scheme, hasPaths }: EndpointEntries) {
  // Not `const`, so that the schema is a constraint and does not declare the property.
  const name = { required: ['scheme'], properties: { scheme: { pattern: `^${scheme}s$` } } };
  const url = { pattern: hasPaths ? `^${matchAnyCase(`${scheme}s`)}:` : `^${scheme}s:` };
  const entry = when(
    { type: 'string' },
    url,
    when({ required: ['url'] }, { properties: { url } }, name),
  );
  return when({ required: ['tls'] }, { properties: { endpoints: { items: entry } } });
}

/** JSON Schema has no flag for it. */
function matchAnyCase(text: string): string {
  return text.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
