import { array, define, type Infer, object, optional, size, string } from 'superstruct';
import { secretReference } from '../../core/contract/index.js';
import { isIssuerUrl } from '../shared/loopback.js';

const MAX_ISSUERS = 16;

const issuerUrl = define<string>(
  'the https URL of an issuer, or http on loopback',
  (value) => typeof value === 'string' && isIssuerUrl(value),
);

const oidcIssuer = object({
  issuer: issuerUrl,
  client_id: size(string(), 1, 256),
  client_secret: optional(secretReference()),
  scopes: optional(size(array(size(string(), 1, 256)), 1, 32)),
  /** The audience of the access token, for issuers that require a resource (RFC 8707). */
  resource: optional(size(string(), 1, 1024)),
});

/** The setting `surfaces.console`. */
export const consoleConfig = object({
  oidc: optional(size(array(oidcIssuer), 1, MAX_ISSUERS)),
});

export type ConsoleConfig = Infer<typeof consoleConfig>;
export type OidcIssuerConfig = Infer<typeof oidcIssuer>;
