import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createBearerCredentials } from '../../core/auth/caller-credentials.js';
import { Introspection } from '../../core/auth/introspection.js';
import { openIssuersAuthenticators } from '../../core/auth/issuers.js';
import type { IntrospectionConfig } from '../../core/auth/issuers-file.js';
import { UnverifiableToken } from '../../core/auth/rejected-token.js';
import { createRejectionLog } from '../../core/auth/rejection-log.js';
import { type Actor, Secret } from '../../core/contract/index.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startProvider } from '../support/provider.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const seconds = () => Math.floor(Date.now() / 1000);
const ACTIVE = {
  active: true,
  sub: 'billing',
  scope: 'crm.read',
  aud: 'modgate',
  iss: 'https://a',
};

describe('introspection', () => {
  let body: unknown;
  let status = 200;
  let held: (() => void)[] | null = null;
  /** Those of the last request. */
  let credentials = '';

  const issuer = use(() =>
    startProvider((request, response) => {
      credentials = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64').toString();
      const respond = () => response.writeHead(status).end(JSON.stringify(body));
      if (held === null) respond();
      else held.push(respond);
    }),
  );

  beforeEach(() => {
    body = ACTIVE;
    status = 200;
    held = null;
  });

  const openRaw = (change: Partial<IntrospectionConfig> = {}) => {
    const config = {
      name: 'corp',
      url: issuer.url,
      client_id: 'modgate',
      client_secret: 'env:SECRET',
      issuer: 'https://a',
      audience: 'modgate',
      actor: { kind: 'service' as const },
      ...change,
    };
    const introspection = new Introspection(
      config,
      new Secret('x'),
      createRejectionLog(createRecordedLog().log),
    );
    return async (token: string, address?: string) =>
      introspection.authenticate({ token, address }, token);
  };
  const open = (change: Partial<IntrospectionConfig> = {}) => {
    const authenticate = openRaw(change);
    return async (token: string, address?: string): Promise<Actor | null> => {
      const result = await authenticate(token, address);
      return result !== null && 'rejected' in result ? null : result;
    };
  };

  /** The actor or the error. */
  const outcomeOf = (result: Promise<Actor | null>): Promise<unknown> =>
    result.catch((reason: unknown) => reason);

  it('maps an active token to an actor', async () => {
    expect(await open()('t')).to.deep.equal({
      kind: 'service',
      id: 'billing',
      scopes: new Set(['crm.read']),
    });
  });

  it('is requested with the secret of a file that has changed', async () => {
    const entry = {
      name: 'corp',
      url: issuer.url,
      client_id: 'modgate',
      actor: { kind: 'service' },
    };
    const introspection = [{ ...entry, client_secret: 'file:secret', cache_seconds: 0 }];
    const files = { 'issuers.json': JSON.stringify({ introspection }), secret: 'first' };
    const folder = createFolder(files);
    const options = { log: createRecordedLog().log, environment: {}, pollMs: 50 };
    const opened = await openIssuersAuthenticators(join(folder, 'issuers.json'), options);
    const secretOfRequest = async () => {
      await opened.chain[1]?.authenticate(createBearerCredentials('opaque'));
      return credentials.slice('modgate:'.length);
    };
    expect(await secretOfRequest()).to.equal('first');
    writeFileSync(join(folder, 'secret'), 'second');
    await waitUntil('the second', async () => (await secretOfRequest()) === 'second');
    await opened.close();
  });

  it('sends the credentials of the host by Basic authentication, or in the form', async () => {
    const token = 'token=t&token_type_hint=access_token';
    for (const [client_auth, basic, sent] of [
      [undefined, 'mod+gate%26:x', token],
      ['post', '', `${token}&client_id=mod+gate%26&client_secret=x`],
    ] as const) {
      const config = { client_id: 'mod gate&', ...(client_auth && { client_auth }) };
      expect(await open(config)('t')).to.deep.include({ id: 'billing' });
      expect(issuer.requests.at(-1)?.body.toString()).to.equal(sent);
      expect(credentials).to.equal(basic);
    }
  });

  it('takes any status that says that the request succeeded', async () => {
    status = 201;
    expect(await open()('t')).to.deep.include({ id: 'billing' });
  });

  it('accepts null for a member that may be missing', async () => {
    const names = ['exp', 'nbf', 'iat', 'cnf', 'token_type', 'token_use', 'client'];
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    body = { ...ACTIVE, ...nulls };
    expect(await open()('t')).to.deep.include({ id: 'billing' });
  });

  for (const [title, make] of [
    ['that is not active', () => ({ active: false })],
    ['with a status that is a string', () => ({ ...ACTIVE, active: 'true' })],
    ['that has expired although it is active', () => ({ ...ACTIVE, exp: seconds() - 1 })],
    ['with an expiry that is not a number', () => ({ ...ACTIVE, exp: 'never' })],
    ['that is not valid yet', () => ({ ...ACTIVE, nbf: seconds() + 60 })],
    ['of another issuer', () => ({ ...ACTIVE, iss: 'https://b' })],
    ['for another audience', () => ({ ...ACTIVE, aud: ['elsewhere'] })],
    ['without an audience', () => ({ ...ACTIVE, aud: undefined })],
    ['that is bound to a key', () => ({ ...ACTIVE, cnf: { jkt: 'x' } })],
    ['of another type', () => ({ ...ACTIVE, token_type: 'DPoP' })],
    ['without a subject', () => ({ ...ACTIVE, sub: undefined })],
  ] as [string, () => unknown][]) {
    it(`rejects a token ${title}`, async () => {
      body = make();
      expect(await open()('t')).to.equal(null);
    });
  }

  for (const [title, change, detail, config] of [
    ['no audience', { aud: undefined }, 'aud', {}],
    ['no subject', { sub: undefined }, 'sub', {}],
    ['no issuer', { iss: undefined }, 'iss', {}],
    ['an expiry that is a text', { exp: '2099-01-01T00:00:00Z' }, 'exp', {}],
    ...['id', 'refresh_token', 'refresh', 7].map(
      (token_use) => [`the use ${token_use}`, { token_use }, 'token_use', {}] as const,
    ),
    ...['ID', 'Refresh', 'offline', 'LOGOUT', 'refresh_token'].map(
      (typ) => [`the type ${typ}`, { typ }, 'typ', {}] as const,
    ),
    ['another token_type', { token_type: 'DPoP' }, 'token_type', {}],
    ['a key of the client', { cnf: { jkt: 'x' } }, 'cnf', {}],
    ['its audience in aud alone', {}, 'client_id', { audience_claim: 'client_id' }],
  ] as const) {
    it(`names the claim of a token with ${title}`, async () => {
      body = { ...ACTIVE, ...change };
      expect(await openRaw(config)('t')).to.include({ rejected: 'claim', detail });
    });
  }

  for (const [title, id, claims] of [
    [
      'steps below a URL',
      ['https://a/claims', 'user.id'],
      { 'https://a/claims': { 'user.id': 'x' } },
    ],
    ['one step', ['user.id'], { 'user.id': 'x', user: { id: 'y' } }],
    ['a name with dots', 'user.id', { 'user.id': 'x', user: { id: 'y' } }],
    ['a path', 'user.id', { user: { id: 'x' } }],
  ] as [string, string | string[], object][]) {
    it(`finds the id by ${title}`, async () => {
      body = { ...ACTIVE, ...claims };
      expect(await open({ actor: { kind: 'service', id } })('t')).to.have.property('id', 'x');
    });
  }

  it('names the path of a claim that is missing', async () => {
    body = { ...ACTIVE, 'kubernetes.io': { pod: { uid: '1' } } };
    for (const path of [
      ['kubernetes.io', 'namespace'],
      ['kubernetes.io', 'pod', 'uid', 'length'],
    ]) {
      const result = await openRaw({ actor: { kind: 'service', id: path } })('t');
      expect(result).to.include({ rejected: 'claim', detail: path.join('.') });
    }
  });

  for (const claims of [
    ...['access', 'access_token', 'Access_Token'].map((token_use) => ({ token_use })),
    ...['Bearer', 'bearer', 'access_token'].map((token_type) => ({ token_type, typ: token_type })),
    { typ: 'at+jwt' },
    { typ: 'identity' },
  ]) {
    it(`accepts a token with ${JSON.stringify(claims)}`, async () => {
      body = { ...ACTIVE, ...claims };
      expect(await open()('t')).to.have.property('id', 'billing');
    });
  }

  it('finds the audience in the claim of its issuer alone', async () => {
    const authenticate = open({ audience_claim: 'client_id', cache_seconds: 0 });
    body = { ...ACTIVE, aud: undefined, client_id: 'modgate' };
    expect(await authenticate('t')).to.have.property('id', 'billing');
    body = { ...ACTIVE, client_id: 'elsewhere' };
    expect(await authenticate('t')).to.equal(null);
  });

  it('does not reject a token when the response is not an introspection', async () => {
    body = [];
    expect(await outcomeOf(open()('t'))).to.be.instanceOf(UnverifiableToken);
  });

  it('does not reject a token while the issuer fails, and retries on the next request', async () => {
    const authenticate = open();
    status = 500;
    expect(await outcomeOf(authenticate('t'))).to.be.instanceOf(UnverifiableToken);
    status = 200;
    expect(await authenticate('t')).not.to.equal(null);
  });

  it('does not cache an actor beyond the expiry of its token', async () => {
    const authenticate = open();
    body = { ...ACTIVE, exp: seconds() + 2 };
    expect(await authenticate('t')).not.to.equal(null);
    body = { active: false };
    await waitUntil('the expiry', async () => (await authenticate('t')) === null);
  });

  it('sends a request for each call when the cache is off', async () => {
    const authenticate = open({ cache_seconds: 0 });
    const before = issuer.requests.length;
    for (let index = 0; index < 3; index += 1) await authenticate('t');
    expect(issuer.requests.length - before).to.equal(3);
  });

  it('serves a token from one address while another address floods the queue', async () => {
    held = [];
    const authenticate = open();
    // The others may be too late on a busy machine.
    const isTooMany = (outcome: unknown) =>
      outcome instanceof UnverifiableToken && outcome.message.endsWith('too many wait');
    const tooMany = 350 - 16 - 256 + 1;
    let rejected = 0;
    const flood = Array.from({ length: 350 }, async (_, index) => {
      if (isTooMany(await outcomeOf(authenticate(`flood${index}`, '192.0.2.1')))) rejected += 1;
    });
    const good = outcomeOf(authenticate('good', '192.0.2.2'));
    // A response before that would make room for others.
    await waitUntil('a full queue', () => rejected >= tooMany);
    const release = setInterval(() => {
      for (const respond of held?.splice(0) ?? []) respond();
    }, 1);
    const [token] = await Promise.all([good, ...flood]);
    clearInterval(release);
    expect(token).to.have.property('id', 'billing');
    expect(rejected).to.equal(tooMany);
  });

  for (const [title, flooding, other] of [
    ['addresses of one IPv6 network', '2001:db8:1:2::', '2001:db8:1:2:3::9'],
    ['an IPv4 address in either form', '192.0.2.1', '::ffff:192.0.2.1'],
  ] as const) {
    it(`gives one share of the queue to ${title}`, async () => {
      held = [];
      const authenticate = open();
      const flood = Array.from({ length: 16 + 256 }, (_, index) => {
        const address = flooding.endsWith(':') ? `${flooding}${index.toString(16)}` : flooding;
        return outcomeOf(authenticate(`flood${index}`, address));
      });
      expect(await outcomeOf(authenticate('late', other))).to.be.instanceOf(UnverifiableToken);
      const release = setInterval(() => {
        for (const respond of held?.splice(0) ?? []) respond();
      }, 1);
      await Promise.all(flood);
      clearInterval(release);
    });
  }

  for (const [title, token] of [
    ['another prefix', 'xy_12345'],
    ['fewer characters', 'mg_12'],
    ['more characters', 'mg_1234567'],
  ] as const) {
    it(`rejects a token with ${title} than the format of its issuer without a request`, async () => {
      const before = issuer.requests.length;
      const authenticate = open({ token_format: { prefix: 'mg_', min_length: 6, max_length: 9 } });
      expect(await authenticate(token)).to.equal(null);
      expect(issuer.requests.length).to.equal(before);
      expect(await authenticate('mg_12345')).to.have.property('id', 'billing');
    });
  }

  it('rejects a signed token of another issuer without a request', async () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const sign = (iss: string) => `${encode({ alg: 'RS256' })}.${encode({ iss })}.AA`;
    const before = issuer.requests.length;
    const authenticate = open();
    expect(await authenticate(sign('https://b'))).to.equal(null);
    expect(issuer.requests.length).to.equal(before);
    expect(await authenticate(sign('https://a'))).to.have.property('id', 'billing');
  });

  it('sends 16 requests concurrently and queues at most 256 tokens', async () => {
    held = [];
    const before = issuer.requests.length;
    const authenticate = open();
    const requested = Array.from({ length: 300 }, (_, index) => authenticate(`t${index}`));
    let settled = 0;
    const outcomes = requested.map((request) =>
      outcomeOf(request).finally(() => {
        settled += 1;
      }),
    );
    expect(await outcomes.at(-1), 'one too many').to.be.instanceOf(UnverifiableToken);
    expect(settled, 'rejected at once').to.equal(300 - 16 - 256);
    await waitUntil('the first requests', () => issuer.requests.length - before === 16);
    const first = held;
    held = null;
    for (const respond of first) respond();
    const verified = (await Promise.all(outcomes)).filter((result) => !(result instanceof Error));
    expect(verified).to.have.length.within(17, 16 + 256);
  });
});
