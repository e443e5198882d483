import { array, define, enums, object, refine, size } from 'superstruct';
import { described, matching, optionally, secretReference } from '../../../core/contract/index.js';
import { isIssuerUrl, isTokenUrl } from '../loopback.js';

const MAX_SCOPES = 64;
const MAX_LENGTH = 1_024;

const url = urlWithout(
  'credentials, query and fragment',
  isIssuerUrl,
  '^[hH][tT][tT][pP][sS]?://[^?#@\\s]+$',
);
const tokenUrl = urlWithout(
  'credentials and fragment',
  isTokenUrl,
  '^[hH][tT][tT][pP][sS]?://[^#\\s]+$',
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
    array(matching('word of visible ASCII without a quotation mark and a backslash', SCOPE)),
    1,
    MAX_SCOPES,
  ),
  { minItems: 1, maxItems: MAX_SCOPES },
);

/** The client credentials of the host at an authorization server. */
const client = {
  client_id: described(text, { description: 'The client that the host is.' }),
  client_secret: optionally(secretReference(), { description: 'Secret of the client.' }),
  client_auth: optionally(enums(['basic', 'post']), {
    default: 'basic',
    description: 'Whether client_secret is sent by Basic authentication or in the form.',
  }),
  private_key: optionally(secretReference(), {
    description: 'Key that signs assertions of the client (private_key_jwt), PEM or JWK.',
  }),
};

/** The purpose of a token. */
const grant = {
  scopes: optionally(scopes, { description: 'Scopes to request.' }),
  audience: optionally(text, { description: 'Parameter audience of the request.' }),
  resource: optionally(text, { description: 'Parameter resource of the request (RFC 8707).' }),
};

const ONE_OF_KEYS = { oneOf: [{ required: ['client_secret'] }, { required: ['private_key'] }] };
const OF_SECRETS = { client_auth: ['client_secret'] };

interface ClientMembers {
  readonly client_secret?: string | undefined;
  readonly client_auth?: 'basic' | 'post' | undefined;
  readonly private_key?: string | undefined;
}

const ONE_OF_KEYS_TEXT = 'a mapping with exactly one of client_secret and private_key';
const OF_SECRETS_TEXT = 'a mapping with client_auth only beside client_secret';

function hasOneKey({ client_secret: secret, private_key: key }: ClientMembers): boolean {
  return (secret === undefined) !== (key === undefined);
}

function hasSecretForAuth({ client_auth: auth, client_secret: secret }: ClientMembers): boolean {
  return auth === undefined || secret !== undefined;
}

/** `auth.oauth2`: tokens by client credentials (RFC 6749, section 4.4). */
export const oauth2 = described(
  refine(
    refine(
      refine(
        object({
          token_url: optionally(tokenUrl, { description: 'The token endpoint.' }),
          issuer: optionally(url, {
            description:
              'The authorization server, whose discovery document names the token endpoint.',
          }),
          ...client,
          ...grant,
        }),
        'a mapping with exactly one of token_url and issuer',
        (value) => (value.token_url === undefined) !== (value.issuer === undefined),
      ),
      ONE_OF_KEYS_TEXT,
      hasOneKey,
    ),
    OF_SECRETS_TEXT,
    hasSecretForAuth,
  ),
  {
    allOf: [{ oneOf: [{ required: ['token_url'] }, { required: ['issuer'] }] }, ONE_OF_KEYS],
    dependentRequired: OF_SECRETS,
  },
);

/** `auth.exchange`: tokens on behalf of callers (RFC 8693). */
export const exchange = described(
  refine(
    refine(
      object({
        issuer: described(text, {
          description: 'Whose tokens of callers are exchanged: an issuer of the issuers file.',
        }),
        token_url: optionally(tokenUrl, {
          description:
            "The token endpoint, one of the issuer's token_endpoints in the issuers file. Default: that of its discovery.",
        }),
        ...client,
        ...grant,
        host: optionally(object({ scopes: grant.scopes, audience: grant.audience }), {
          description:
            'Requests of the host itself get a token of the same client by client credentials. Default: they carry none.',
        }),
      }),
      ONE_OF_KEYS_TEXT,
      hasOneKey,
    ),
    OF_SECRETS_TEXT,
    hasSecretForAuth,
  ),
  { ...ONE_OF_KEYS, dependentRequired: OF_SECRETS },
);

function urlWithout(parts: string, isUrl: (text: string) => boolean, pattern: string) {
  const rule = `https URL without ${parts} (http only on loopback)`;
  const struct = define<string>(rule, (value) => typeof value === 'string' && isUrl(value));
  return described(struct, { type: 'string', pattern });
}
