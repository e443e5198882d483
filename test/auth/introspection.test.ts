import { expect } from 'chai';
import { Introspection } from '../../core/auth/introspection.js';
import type { IntrospectionConfig } from '../../core/auth/issuers-file.js';
import { createRejectionLog } from '../../core/auth/rejection-log.js';
import { UnverifiableToken } from '../../core/auth/verify-jwt.js';
import { type Actor, Secret } from '../../core/contract/index.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';

const seconds = () => Math.floor(Date.now() / 1000);
const ACTIVE = {
  active: true,
  sub: 'billing',
  scope: 'crm.read',
  aud: 'modgate',
  iss: 'https://a',
};

describe('introspection', () => {
  let issuer: ScriptedProvider;
  let answer: unknown;
  let status = 200;
  let held: (() => void)[] | null = null;

  before(async () => {
    issuer = await startProvider((_request, response) => {
      const respond = () => response.writeHead(status).end(JSON.stringify(answer));
      if (held === null) respond();
      else held.push(respond);
    });
  });

  beforeEach(() => {
    answer = ACTIVE;
    status = 200;
    held = null;
  });

  after(() => issuer.stop());

  const open = (change: Partial<IntrospectionConfig> = {}) => {
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
    return async (token: string): Promise<Actor | null> => introspection.authenticate(token, token);
  };

  /** The actor, or what was thrown. */
  const outcomeOf = (answer: Promise<Actor | null>): Promise<unknown> =>
    answer.catch((reason: unknown) => reason);

  it('makes an actor of an active token', async () => {
    expect(await open()('t')).to.deep.equal({
      kind: 'service',
      id: 'billing',
      scopes: new Set(['crm.read']),
    });
  });

  for (const [title, make] of [
    ['that is not active', () => ({ active: false })],
    ['that is active by a text alone', () => ({ ...ACTIVE, active: 'true' })],
    ['that has expired, whatever the issuer says', () => ({ ...ACTIVE, exp: seconds() - 1 })],
    ['whose expiry is no number', () => ({ ...ACTIVE, exp: 'never' })],
    ['of the future', () => ({ ...ACTIVE, nbf: seconds() + 60 })],
    ['of another issuer', () => ({ ...ACTIVE, iss: 'https://b' })],
    ['for another audience', () => ({ ...ACTIVE, aud: ['elsewhere'] })],
    ['for no audience', () => ({ ...ACTIVE, aud: undefined })],
    ['that is bound to a key', () => ({ ...ACTIVE, cnf: { jkt: 'x' } })],
    ['of another type', () => ({ ...ACTIVE, token_type: 'DPoP' })],
    ['of nobody', () => ({ ...ACTIVE, sub: undefined })],
  ] as [string, () => unknown][]) {
    it(`refuses a token ${title}`, async () => {
      answer = make();
      expect(await open()('t')).to.equal(null);
    });
  }

  it('judges nothing by an answer that is none', async () => {
    answer = [];
    expect(await outcomeOf(open()('t'))).to.be.instanceOf(UnverifiableToken);
  });

  it('judges nothing while the issuer fails, and asks again at once', async () => {
    const authenticate = open();
    status = 500;
    expect(await outcomeOf(authenticate('t'))).to.be.instanceOf(UnverifiableToken);
    status = 200;
    expect(await authenticate('t')).not.to.equal(null);
  });

  it('remembers nobody past the expiry of the token', async () => {
    const authenticate = open();
    answer = { ...ACTIVE, exp: seconds() + 2 };
    expect(await authenticate('t')).not.to.equal(null);
    answer = { active: false };
    await waitUntil('the expiry', async () => (await authenticate('t')) === null, 15_000);
  });

  it('asks each time when it is to remember nothing', async () => {
    const authenticate = open({ cache_seconds: 0 });
    const before = issuer.requests.length;
    for (let index = 0; index < 3; index += 1) await authenticate('t');
    expect(issuer.requests.length - before).to.equal(3);
  });

  it('asks for 16 tokens at a time, and lets no more than 256 wait', async () => {
    held = [];
    const before = issuer.requests.length;
    const authenticate = open();
    const asked = Array.from({ length: 300 }, (_, index) => authenticate(`t${index}`));
    const outcomes = asked.map(outcomeOf);
    expect(await outcomes.at(-1), 'one too many').to.be.instanceOf(UnverifiableToken);
    await waitUntil('the first questions', () => issuer.requests.length - before === 16, 10_000);
    const release = setInterval(() => {
      for (const respond of held?.splice(0) ?? []) respond();
    }, 1);
    const actors = await Promise.all(outcomes);
    clearInterval(release);
    const judged = actors.filter((actor) => !(actor instanceof Error));
    expect(judged).to.have.length(16 + 256);
  });
});
