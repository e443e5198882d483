import { expect } from 'chai';
import { parseIssuersFile } from '../../core/auth/issuers-file.js';
import { formatDiagnostic, InvalidFile } from '../../core/document/diagnostic.js';

const GOOD = {
  issuer: 'https://issuer.example',
  audience: 'modgate',
  algorithms: ['RS256'],
  jwks: { url: 'https://issuer.example/jwks' },
  actor: { kind: 'service' },
};

const MINIMAL = {
  name: 'corp',
  url: 'https://issuer.example/introspect',
  client_id: 'modgate',
  client_secret: 'env:SECRET',
  actor: { kind: 'service' },
};

const parse = (value: unknown) =>
  parseIssuersFile('/etc/issuers.json', JSON.stringify(value), { SECRET: 'a-canary' });

async function rejectionOf(value: unknown): Promise<string> {
  const error: unknown = await parse(value).catch((reason) => reason);
  expect(error).to.be.instanceOf(InvalidFile);
  return (error as InvalidFile).diagnostics.map(formatDiagnostic).join('\n');
}

describe('issuers file', () => {
  it('accepts a short entry', async () => {
    const { issuers } = await parse({ issuers: [GOOD] });
    expect(issuers).to.deep.equal([GOOD]);
  });

  for (const url of ['http://localhost:1/jwks', 'http://127.0.0.1/jwks', 'http://[::1]:8/jwks']) {
    it(`accepts keys without TLS from ${url}`, async () => {
      expect((await parse({ issuers: [{ ...GOOD, jwks: { url } }] })).issuers).to.have.length(1);
    });
  }

  for (const [title, change, message] of [
    ['keys over plain HTTP', { jwks: { url: 'http://issuer.example/jwks' } }, /https URL/],
    [
      'keys over plain HTTP from a host that looks like loopback',
      { jwks: { url: 'http://127.0.0.1.example/' } },
      /https/,
    ],
    ['keys from a file URL', { jwks: { url: 'file:///etc/passwd' } }, /https URL/],
    ['credentials in a URL', { jwks: { url: 'https://u:canary@a/' } }, /without credentials/],
    ['no source of keys', { jwks: {} }, /exactly one of 'url' and 'file'/],
    ['two sources of keys', { jwks: { url: 'https://a/', file: 'b' } }, /exactly one/],
    ['the algorithm none', { algorithms: ['none'] }, /algorithms/],
    ['a symmetric algorithm', { algorithms: ['HS256'] }, /algorithms/],
    ['no algorithm', { algorithms: [] }, /algorithms/],
    ['no audience', { audience: undefined }, /missing key 'audience'/],
    ['an empty list of audiences', { audience: [] }, /audience/],
    ['a claim without steps', { actor: { kind: 'service', id: [] } }, /nonempty|empty|actor/],
    ['a step that is empty', { audience_claim: ['a', ''] }, /audience_claim/],
    ['a skew beyond 5 minutes', { clock_skew_seconds: 301 }, /from 0 to 300/],
    ['an unknown kind', { actor: { kind: 'admin' } }, /kind/],
    ['a wrong key', { audiences: ['x'] }, /did you mean 'audience'/],
  ] as const) {
    it(`rejects ${title}`, async () => {
      const rejection = await rejectionOf({ issuers: [{ ...GOOD, ...change }] });
      expect(rejection).to.match(message).and.not.include('canary');
    });
  }

  it('rejects two entries with the same issuer', async () => {
    expect(await rejectionOf({ issuers: [GOOD, GOOD] })).to.match(/the same issuer/);
  });

  it('accepts secrets by reference only and never prints them', async () => {
    const file = await parse({ introspection: [MINIMAL] });
    expect(file.secret('env:SECRET').reveal()).to.equal('a-canary');
    expect(JSON.stringify(file)).not.to.include('a-canary');
    const written = { ...MINIMAL, client_secret: 'canary' };
    expect(await rejectionOf({ introspection: [written] }))
      .to.match(/secret reference/)
      .and.not.include('canary');
    const missing = { ...MINIMAL, client_secret: 'env:NOT_THERE' };
    expect(await rejectionOf({ introspection: [missing] })).to.match(/NOT_THERE, which is not set/);
  });

  it('rejects a cache time above 60 s', async () => {
    const long = { ...MINIMAL, cache_seconds: 61 };
    expect(await rejectionOf({ introspection: [long] })).to.match(/from 0 to 60/);
  });
});
