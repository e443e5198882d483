import { expect } from 'chai';
import { validateStruct } from '../../../core/document/validate.js';
import { httpConfig, unixConfig } from '../../../plugins/http/config.js';

const ONE = { endpoints: ['https://crm.internal'] };
const PIN = `${'A'.repeat(43)}=`;

function messagesOf(config: unknown, struct: Parameters<typeof validateStruct>[1] = httpConfig) {
  return validateStruct(config, struct).violations.map(({ message }) => message);
}

const CLIENT = { client_id: 'me', client_secret: 'env:S' };

describe('config of the http kinds', () => {
  const VALID: Readonly<Record<string, object>> = {
    'one endpoint': { endpoints: ['http://127.0.0.1:4100'] },
    'names with an underscore, a final dot and letters beyond ASCII': {
      endpoints: ['http://crm_1', 'http://crm.internal.:4100', 'http://b\u00fccher.example'],
    },
    'an IPv6 address, a prefix and a weight': {
      endpoints: ['http://[::1]:4100/api/v1/', { url: 'http://b/x%20y', weight: 1_000 }],
    },
    'consistent hashing': { ...ONE, strategy: 'consistent_hash', hash_header: 'X-Tenant' },
    'all of health': {
      ...ONE,
      health: {
        path: '/health?deep=1',
        interval_ms: 100,
        timeout_ms: 10,
        failures: 1,
        successes: 1,
      },
    },
    'basic credentials': { ...ONE, auth: { basic: { username: 'a b', password: 'env:P' } } },
    'OAuth 2 with a secret': {
      ...ONE,
      auth: { oauth2: { ...CLIENT, token_url: 'https://a/token', client_auth: 'post' } },
    },
    'OAuth 2 with a query': {
      ...ONE,
      auth: { oauth2: { ...CLIENT, token_url: 'https://a/token?p=b2c_1' } },
    },
    'OAuth 2 on loopback': { ...ONE, auth: { oauth2: { ...CLIENT, issuer: 'http://[::1]:1' } } },
    'OAuth 2 with a key and everything': {
      ...ONE,
      auth: {
        oauth2: {
          ...{ issuer: 'https://a/realms/b', client_id: 'me', private_key: 'file:k.pem' },
          ...{ scopes: ['a', 'b:c'], audience: 'x', resource: 'urn:x' },
        },
      },
    },
    'a header for credentials': { ...ONE, auth: { header: { name: 'X-Key', value: 'file:k' } } },
    'all of TLS': {
      ...ONE,
      tls: { ca: 'ca.pem', cert: 'c.pem', key: 'file:k', servername: 'a.b', pin_sha256: [PIN] },
    },
    'one pin': { ...ONE, tls: { pin_sha256: PIN } },
    'TLS for a scheme in capitals': { endpoints: ['HTTPS://a'], tls: {} },
  };
  for (const [title, config] of Object.entries(VALID)) {
    it(`accepts ${title}`, () => {
      expect(messagesOf(config)).to.deep.equal([]);
    });
  }

  const BAD_URLS = [
    'ftp://a',
    'a:4100',
    'http://',
    'http://user@a',
    'http://user:secret@a',
    'http://a?x',
    'http://a/#x',
    'http://a/b/../c',
    'http://a/%2e%2E',
    'http://a//b',
    'http://a/b c',
    'http://a/%zz',
    'http://a/"',
    'http:\\\\a',
    ' http://a',
    'http://a\n',
    'http://a:99999',
    // A template that was not filled in, and two hosts.
    'http://{{HOST}}:4100',
    'http://$HOST/api',
    'http://a,b:4100',
    'http://"a"',
    'http://`a`',
  ];
  for (const url of BAD_URLS) {
    it(`rejects the endpoint ${JSON.stringify(url)}`, () => {
      const expected =
        'must be an http or https URL without credentials, query, fragment or dot segment';
      expect(messagesOf({ endpoints: [url] })).to.deep.equal([`'endpoints[0]' ${expected}`]);
      expect(messagesOf({ endpoints: [{ url, weight: 1 }] })).to.deep.equal([
        `'endpoints[0].url' ${expected}`,
      ]);
    });
  }

  const header = "'auth.header.name' must be a header name that is not hop-by-hop, host, content-*";
  const REFUSED: readonly [config: object, ...messages: string[]][] = [
    [{}, "missing key 'endpoints'"],
    [{ endpoints: [] }, "'endpoints' must be a list with a length between 1 and 64"],
    [
      { endpoints: Array.from({ length: 65 }, (_, index) => `http://a${index}`) },
      "'endpoints' must be a list with a length between 1 and 64",
    ],
    [
      { endpoints: ['http://a', 'http://A:80/'] },
      "'endpoints' must be a list of endpoints that differ",
    ],
    [
      { endpoints: [{ url: 'http://a', weight: 0 }] },
      "'endpoints[0].weight' must be an integer between 1 and 1000",
    ],
    [
      { ...ONE, strategy: 'random' },
      "'strategy' must be one of round_robin, least_in_flight, consistent_hash",
    ],
    [
      { ...ONE, strategy: 'consistent_hash' },
      'the document must be a mapping with hash_header for strategy consistent_hash, and for no other',
    ],
    [
      { ...ONE, hash_header: 'x-tenant' },
      'the document must be a mapping with hash_header for strategy consistent_hash, and for no other',
    ],
    [
      { ...ONE, health: { path: 'health' } },
      "'health.path' must be a path that starts with a slash, of visible ASCII without a fragment",
    ],
    [
      { ...ONE, health: { interval_ms: 99 } },
      "'health.interval_ms' must be an integer between 100 and 3600000",
    ],
    [
      { ...ONE, health: { timeout_ms: 1.5 } },
      "'health.timeout_ms' must be an integer between 10 and 60000",
    ],
    [
      { ...ONE, auth: {} },
      "'auth' must be exactly one of bearer, basic, header, oauth2, exchange and signer, with config only beside signer",
    ],
    [
      { ...ONE, auth: { bearer: 'env:A', header: { name: 'x', value: 'env:B' } } },
      "'auth' must be exactly one of bearer, basic, header, oauth2, exchange and signer, with config only beside signer",
    ],
    ...Object.entries<[object, string]>({
      both: [
        { ...CLIENT, token_url: 'https://a', issuer: 'https://a' },
        "'auth.oauth2' must be a mapping with exactly one of token_url and issuer",
      ],
      none: [CLIENT, "'auth.oauth2' must be a mapping with exactly one of token_url and issuer"],
      keys: [
        { ...CLIENT, token_url: 'https://a', private_key: 'env:K' },
        "'auth.oauth2' must be a mapping with exactly one of client_secret and private_key",
      ],
      post: [
        { token_url: 'https://a', client_id: 'me', private_key: 'env:K', client_auth: 'post' },
        "'auth.oauth2' must be a mapping with client_auth only beside client_secret",
      ],
      plain: [
        { ...CLIENT, token_url: 'http://a/token' },
        "'auth.oauth2.token_url' must be an https URL without credentials and fragment (http only on loopback)",
      ],
      query: [
        { ...CLIENT, issuer: 'https://a?p=1' },
        "'auth.oauth2.issuer' must be an https URL without credentials, query and fragment (http only on loopback)",
      ],
      user: [
        { ...CLIENT, issuer: 'https://a:b@c' },
        "'auth.oauth2.issuer' must be an https URL without credentials, query and fragment (http only on loopback)",
      ],
      value: [
        { token_url: 'https://a', client_id: 'me', client_secret: 's3cret' },
        "'auth.oauth2.client_secret' must be a secret reference (env:NAME or file:PATH)",
      ],
      scope: [
        { ...CLIENT, token_url: 'https://a', scopes: ['a b'] },
        "'auth.oauth2.scopes[0]' must be a word of visible ASCII without a quotation mark and a backslash",
      ],
    }).map(([, [oauth2, message]]): [object, string] => [{ ...ONE, auth: { oauth2 } }, message]),
    [
      { ...ONE, auth: { bearer: 's3cret' } },
      "'auth.bearer' must be a secret reference (env:NAME or file:PATH)",
    ],
    [
      { ...ONE, auth: { basic: { username: 'a:b', password: 'env:P' } } },
      "'auth.basic.username' must be a user name without a colon or a control character",
    ],
    ...['Host', 'connection', 'Content-Type', 'transfer-encoding', 'Modgate-Actor'].map(
      (name): [object, string] => [
        { ...ONE, auth: { header: { name, value: 'env:V' } } },
        `${header} or modgate-*`,
      ],
    ),
    [
      { endpoints: ['http://a'], tls: {} },
      'the document must be a mapping with tls only if all endpoints are https',
    ],
    [
      { endpoints: ['http://a', 'https://b'], tls: {} },
      'the document must be a mapping with tls only if all endpoints are https',
    ],
    [
      { ...ONE, tls: { cert: 'c.pem' } },
      "'tls' must be a mapping with cert and key together, or with neither",
    ],
    [
      { ...ONE, tls: { servername: '10.0.0.1' } },
      "'tls.servername' must be a name of a server, not an address",
    ],
    [
      { ...ONE, tls: { pin_sha256: 'abc' } },
      "'tls.pin_sha256' must be a base64 SHA-256 of a public key (44 characters)",
    ],
    [
      { ...ONE, tls: { pin_sha256: [PIN, 'abc'] } },
      "'tls.pin_sha256[1]' must be a base64 SHA-256 of a public key (44 characters)",
    ],
    [{ ...ONE, tls: { verify: false } }, "unknown key 'verify' in 'tls'"],
    [{ ...ONE, endpoint: 'x' }, "unknown key 'endpoint'"],
  ];
  for (const [config, ...messages] of REFUSED) {
    it(`reports: ${messages.join('; ')} (${JSON.stringify(config).slice(0, 60)})`, () => {
      expect(messagesOf(config)).to.deep.equal(messages);
    });
  }

  it('accepts a socket and the common keys for kind unix, but no network keys', () => {
    const auth = { bearer: 'env:T' };
    expect(messagesOf({ socket: './a.sock', auth, health: {} }, unixConfig)).to.deep.equal([]);
    expect(messagesOf({ socket: '' }, unixConfig)).to.deep.equal([
      "'socket' must be a path of a socket",
    ]);
    expect(messagesOf({ socket: '/a', tls: {}, endpoints: [] }, unixConfig)).to.deep.equal([
      "unknown key 'tls'",
      "unknown key 'endpoints'",
    ]);
  });
});
