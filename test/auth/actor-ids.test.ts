import { expect } from 'chai';
import { escapeLine } from '../../core/contract/index.js';
import { OTHER_ISSUER, useSignedTokens } from '../support/auth/use-signed-tokens.js';
import { signToken } from '../support/fake-issuer.js';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';

const FACE = '\u{1f600}';

/** Subjects, and the id in `modgate-actor`. */
const IDS = [
  ['billing', 'billing'],
  ['auth0|65f1', 'auth0%7C65f1'],
  ['google-oauth2|1@clients', 'google-oauth2%7C1@clients'],
  ['system:serviceaccount:shop:billing', 'system%3Aserviceaccount%3Ashop%3Abilling'],
  ['repo:acme/shop:ref:refs/heads/main', 'repo%3Aacme%2Fshop%3Aref%3Arefs%2Fheads%2Fmain'],
  ['spiffe://example.org/ns/shop', 'spiffe%3A%2F%2Fexample.org%2Fns%2Fshop'],
  ['a+b@example.org', 'a%2Bb@example.org'],
  ['Jörg Müller', 'J%C3%B6rg%20M%C3%BCller'],
  ['!~*\'(),;"\\', '%21%7E%2A%27%28%29%2C%3B%22%5C'],
  ['auth0%7C65f1', 'auth0%257C65f1'],
  ['a\u2028\u202eb', 'a%E2%80%A8%E2%80%AEb'],
  ['s'.repeat(255), 's'.repeat(255)],
  [FACE.repeat(255), '%F0%9F%98%80'.repeat(255)],
] as const;

describe('the id of an actor', () => {
  const setup = useSignedTokens();
  const { get, actorOf } = setup;
  const find = (actor: string) =>
    setup.host.logs().find((line) => line['msg'] === 'request' && line['actor'] === actor);

  for (const [sub, header] of IDS) {
    const title = sub.length > 40 ? `${[...sub].length} times ${[...sub][0]}` : escapeLine(sub);
    it(`may be ${title}: encoded in headers, exact in logs and records`, async () => {
      const actor = `service:${sub}`;
      expect(await actorOf(await signToken(setup.key, { sub }))).to.equal(`service:${header}`);
      await waitUntil('the line of the log', () => find(actor) !== undefined);
      const as = await signToken(setup.key, { sub: 'root', client: { type: 'root' }, scope: '' });
      const target = `/calls?${new URLSearchParams({ actor, limit: '1' })}`;
      const answer = parseJson(await call(setup.host, { target, as }));
      expect(answer['calls']).to.be.an('array').with.length(1);
      expect(answer).to.have.nested.property('calls[0].actor', actor);
    });
  }

  for (const [title, sub] of [
    ['no characters', ''],
    ['256 characters', 's'.repeat(256)],
    ['256 code points', FACE.repeat(256)],
    ['a line feed', 'a\nb'],
    ['a NUL', 'a\0b'],
    ['a control character of Latin-1', 'a\u0085b'],
    ['a lone surrogate', 'a\ud800b'],
    ['a space before it', ' a'],
    ['a space behind it', 'a '],
    ['another blank behind it', 'a\u00a0'],
    ['no text', 7],
  ] as const) {
    it(`is rejected with ${title}`, async () => {
      expectProblem(await get(await signToken(setup.key, { sub })), 401);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('includes the prefix of its issuer, also in its length', async () => {
    const sign = (id: string) => signToken(setup.curve, { iss: OTHER_ISSUER, client_id: id });
    expect(await actorOf(await sign('a|b'))).to.equal('service:other.a%7Cb');
    expect((await get(await sign('s'.repeat(249)))).status).to.equal(200);
    expectProblem(await get(await sign('s'.repeat(250))), 401);
  });
});
