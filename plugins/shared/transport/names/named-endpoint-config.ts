import { define, enums, object } from 'superstruct';
import { described, named, optionally } from '../../../../core/contract/index.js';
import { integerBetween } from '../../integer-between.js';
import type { EndpointEntries } from '../endpoint-entries.js';

/** The last label begins with a letter, so that no parser interprets the name as an address. */
const NAME = String.raw`(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`;
const DNS_NAME = new RegExp(`^${NAME}$`);
/** RFC 2782: `_service._proto.name`. */
const SERVICE_LABELS = String.raw`_[A-Za-z0-9-]{1,62}\._[A-Za-z0-9-]{1,62}\.`;
const SRV_NAME = new RegExp(`^${SERVICE_LABELS}${NAME}$`);
/** RFC 1035, 2.3.4. */
const MAX_NAME_LENGTH = 253;

/** The path syntax of an endpoint's URL; the path is the prefix of every target. */
const PATH = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+\/?$/;
const UNSAFE_PATH = /\/(?:\.|%2e){1,2}(?:\/|$)|%(?![0-9A-Fa-f]{2})/i;

const endpointPath = named(
  'endpointPath',
  described(
    define<string>(
      'path that starts with a slash, without query, fragment or dot segment',
      (value) => typeof value === 'string' && PATH.test(value) && !UNSAFE_PATH.test(value),
    ),
    { type: 'string', pattern: PATH.source },
  ),
);

/** The structs of an entry whose addresses are endpoints. */
export function createNamedEndpoints(entries: EndpointEntries) {
  const { scheme, hasPaths } = entries;
  const common = {
    scheme: optionally(enums([scheme, `${scheme}s`]), {
      default: scheme,
      description: 'How the addresses are called.',
    }),
    ...(hasPaths && { path: optionally(endpointPath, { description: 'Prefix of every target.' }) }),
  };
  return {
    /** Each address of the name is an endpoint. */
    dnsEndpoint: named(
      entries.nameDefinition('dnsEndpoint'),
      object({
        dns: nameMatching(
          'dnsName',
          DNS_NAME,
          'DNS name, not an address',
          'Name whose A and AAAA records are endpoints.',
        ),
        port: described(integerBetween(1, 65_535), { description: 'Port of every address.' }),
        ...common,
      }),
    ),
    /** Each address of each target of the name is an endpoint. */
    srvEndpoint: named(
      entries.nameDefinition('srvEndpoint'),
      object({
        srv: nameMatching(
          'srvName',
          SRV_NAME,
          'name of SRV records, such as _http._tcp.crm.internal',
          'Name whose SRV records name ports, targets, weights and priorities.',
        ),
        ...common,
      }),
    ),
  };
}

function nameMatching(name: string, pattern: RegExp, expected: string, description: string) {
  const struct = define<string>(
    expected,
    (value) => typeof value === 'string' && value.length <= MAX_NAME_LENGTH && pattern.test(value),
  );
  const keywords = { type: 'string', maxLength: MAX_NAME_LENGTH, pattern: pattern.source };
  return described(named(name, described(struct, keywords)), { description });
}
