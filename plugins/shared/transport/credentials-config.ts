import { isIP } from 'node:net';
import { any, array, define, dynamic, object, record, refine, size, string } from 'superstruct';
import {
  type AnyStruct,
  described,
  fileReference,
  HEADER_SECRET,
  matching,
  named,
  optionally,
  PASSWORD,
  secretReference,
  when,
} from '../../../core/contract/index.js';
import { CERTIFICATE_PAIR } from '../keywords.js';
import { headerName, isCredentialHeader } from './header-name.js';
import { exchange, oauth2 } from './oauth2-config.js';

/** Sufficient for a current and a next key of each replica. */
const MAX_PINS = 128;

const username = matching(
  'user name without a colon or a control character',
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  /^[^:\u0000-\u001f\u007f]+$/,
  { description: 'Name of the user.' },
);

/** A DNS name, never an address (RFC 6066, 3). */
const serverName = described(
  define<string>(
    'name of a server, not an address',
    (value) =>
      typeof value === 'string' &&
      /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(value) &&
      isIP(value) === 0,
  ),
  { type: 'string', minLength: 1, maxLength: 253 },
);

const spkiPin = named(
  'spkiPin',
  matching('base64 SHA-256 of a public key (44 characters)', /^[A-Za-z0-9+/]{43}=$/),
);

const spkiPins = described(
  dynamic<string | string[]>(
    (value): AnyStruct => (Array.isArray(value) ? size(array(spkiPin), 1, MAX_PINS) : spkiPin),
  ),
  when({ type: 'array' }, { minItems: 1, maxItems: MAX_PINS, items: spkiPin }, spkiPin),
);

const header = object({
  name: described(
    refine(
      headerName,
      'header name that is not hop-by-hop, host, content-* or modgate-*',
      isCredentialHeader,
    ),
    { $ref: '#/$defs/headerName', description: 'Name of the header.' },
  ),
  value: described(secretReference(HEADER_SECRET), { description: 'Value of the header.' }),
});

const basic = object({
  username,
  password: described(secretReference(PASSWORD), { description: 'Password of the user.' }),
});

const signerName = matching('name of a-z, 0-9 and -', /^[a-z][a-z0-9-]*$/);

export const auth = named(
  'auth',
  described(
    refine(
      object({
        bearer: optionally(secretReference(HEADER_SECRET), { description: 'A bearer token.' }),
        basic: optionally(basic, { description: 'Name and password.' }),
        header: optionally(header, { description: 'A header with a secret.' }),
        oauth2: optionally(oauth2, {
          description: 'A token that the host requests by client credentials of OAuth 2.',
        }),
        exchange: optionally(exchange, {
          description: 'A token on behalf of the caller, which the host exchanges for its own.',
        }),
        signer: optionally(signerName, {
          description: 'A signer of a plugin, which signs requests.',
        }),
        config: optionally(record(string(), any()), {
          type: 'object',
          description: 'Config of the signer.',
        }),
      }),
      'exactly one of bearer, basic, header, oauth2, exchange and signer, with config only beside signer',
      ({ config, ...kinds }) => {
        const configured = Object.values(kinds).filter((part) => part !== undefined);
        return configured.length === 1 && (config === undefined || kinds.signer !== undefined);
      },
    ),
    {
      oneOf: ['bearer', 'basic', 'header', 'oauth2', 'exchange', 'signer'].map((kind) => ({
        required: [kind],
      })),
      dependentRequired: { config: ['signer'] },
      description: "The host's credentials for the provider: exactly one kind.",
    },
  ),
);

export const tls = named(
  'tls',
  described(
    refine(
      object({
        ca: optionally(fileReference(), { description: 'Certificate authorities, PEM.' }),
        cert: optionally(fileReference(), { description: "The host's certificate, PEM." }),
        key: optionally(fileReference(), { description: 'Key of the certificate, PEM.' }),
        servername: optionally(serverName, {
          description: "Name that the provider's certificate must have. Default: the endpoint's.",
        }),
        pin_sha256: optionally(spkiPins, {
          description: 'Public keys that the provider may have; several during a change of keys.',
        }),
      }),
      'a mapping with cert and key together, or with neither',
      (value) => (value.cert === undefined) === (value.key === undefined),
    ),
    {
      dependentRequired: CERTIFICATE_PAIR,
      description: "For endpoints with TLS outside the system's certificate authorities.",
    },
  ),
);
