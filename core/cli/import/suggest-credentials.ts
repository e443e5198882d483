import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { followReference, type OpenApiDocument } from './openapi-document.js';

/** Characters of header names; others could end the comment. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Comment lines of a new descriptor about how the host sends the service's credentials. They follow
 * the security scheme that the document requires first, otherwise the first declared one.
 * @param variable the variable of the secret
 */
export function suggestCredentials(document: OpenApiDocument, variable: string): readonly string[] {
  const schemes = Object.entries(
    asObject(asObject(document.root['components'])['securitySchemes']),
  );
  const required = Object.keys(asObject(asList(document.root['security']).find(isNotEmpty)));
  const scheme = schemes.find(([name]) => name === required[0]) ?? schemes[0];
  return scheme === undefined
    ? []
    : describe(followReference(document, scheme[1]), `env:${variable}`);
}

function describe(declared: JsonObject, secret: string): readonly string[] {
  const { type, scheme = '', name = '', in: place } = declared;
  const bearer = `# auth: { bearer: ${secret} }`;
  const kind = type === 'http' ? `http ${asText(scheme)?.toLowerCase()}` : type;
  switch (kind) {
    case 'http bearer':
      return [bearer];
    case 'http basic':
      return [`# auth: { basic: { username: NAME, password: ${secret} } }`];
    case 'oauth2':
    case 'openIdConnect':
      return ['# The service expects an OAuth 2.0 access token with each request:', bearer];
    case 'apiKey':
      if (place === 'header' && HEADER_NAME.test(String(name))) {
        return [`# auth: { header: { name: ${JSON.stringify(name)}, value: ${secret} } }`];
      }
      return [
        '# The service expects its key in the query or in a cookie: auth cannot send it there.',
      ];
    case 'mutualTLS':
      return [
        '# The service expects a client certificate:',
        '# tls: { cert: file:CERT, key: file:KEY }',
      ];
    default:
      return ['# The document names credentials of a kind that auth does not know.'];
  }
}

/** An empty requirement allows calls without credentials. */
function isNotEmpty(requirement: unknown): boolean {
  return isObject(requirement) && Object.keys(requirement).length > 0;
}
