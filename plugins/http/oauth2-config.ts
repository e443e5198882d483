import { array, define, enums, type Infer, object, refine, size } from 'superstruct';
import { described, optionally } from '../../core/contract/described.js';
import { secretReference } from '../../core/contract/index.js';
import { isIssuerUrl } from '../shared/loopback.js';

const MAX_SCOPES = 64;
const MAX_LENGTH = 1_024;

const url = described(
  define<string>(
    'https URL without credentials, query and fragment (http only on loopback)',
    (value) => typeof value === 'string' && isIssuerUrl(value),
  ),
  { type: 'string', pattern: '^[hH][tT][tT][pP][sS]?://[^?#@\\s]+$' },
);

const VISIBLE = /^[\x20-\x7e]+$/;

const text = described(
  define<string>(
    `text of 1 to ${MAX_LENGTH} printable ASCII characters`,
    (value) => typeof value === 'string' && value.length <= MAX_LENGTH && VISIBLE.test(value),
  ),
  { type: 'string', pattern: VISIBLE.source, maxLength: MAX_LENGTH },
);

/** RFC 6749, section 3.3: scope-token. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const scopes = described(
  size(
    array(
      described(
        define<string>(
          'word of visible ASCII without a quotation mark and a backslash',
          (value) => typeof value === 'string' && SCOPE.test(value),
        ),
        { type: 'string', pattern: SCOPE.source },
      ),
    ),
    1,
    MAX_SCOPES,
  ),
  { minItems: 1, maxItems: MAX_SCOPES },
);

const members = object({
  token_url: optionally(url, { description: 'The token endpoint.' }),
  issuer: optionally(url, {
    description: 'The authorization server, whose discovery document names the token endpoint.',
  }),
  client_id: described(text, { description: 'The client that the host is.' }),
  client_secret: optionally(secretReference(), { description: 'Secret of the client.' }),
  client_auth: optionally(enums(['basic', 'post']), {
    default: 'basic',
    description: 'Whether client_secret is sent by Basic authentication or in the form.',
  }),
  private_key: optionally(secretReference(), {
    description: 'Key that signs assertions of the client (private_key_jwt), PEM or JWK.',
  }),
  scopes: optionally(scopes, { description: 'Scopes to request.' }),
  audience: optionally(text, { description: 'Parameter audience of the request.' }),
  resource: optionally(text, { description: 'Parameter resource of the request (RFC 8707).' }),
});

/** `auth.oauth2`: tokens by client credentials (RFC 6749, section 4.4). */
export const oauth2 = described(
  refine(
    refine(
      refine(
        members,
        'a mapping with exactly one of token_url and issuer',
        (value) => (value.token_url === undefined) !== (value.issuer === undefined),
      ),
      'a mapping with exactly one of client_secret and private_key',
      (value) => (value.client_secret === undefined) !== (value.private_key === undefined),
    ),
    'a mapping with client_auth only beside client_secret',
    (value) => value.client_auth === undefined || value.client_secret !== undefined,
  ),
  {
    allOf: [
      { oneOf: [{ required: ['token_url'] }, { required: ['issuer'] }] },
      { oneOf: [{ required: ['client_secret'] }, { required: ['private_key'] }] },
    ],
    dependentRequired: { client_auth: ['client_secret'] },
  },
);

export type OAuth2Config = Infer<typeof oauth2>;
