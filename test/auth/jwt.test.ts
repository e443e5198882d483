import { createHmac, createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { exportSPKI } from 'jose';
import { HOUR, OTHER_ISSUER, TARGET, useSignedTokens } from '../support/auth/use-signed-tokens.js';
import {
  createClaims,
  createSigningKey,
  ISSUER,
  signToken,
  startFakeIssuer,
} from '../support/fake-issuer.js';
import { call } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';

const now = () => Math.floor(Date.now() / 1000);
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

describe('signed tokens', () => {
  const setup = useSignedTokens();
  const { get, actorOf } = setup;

  describe('that are valid', () => {
    it('authenticate their caller repeatedly', async () => {
      const token = await signToken(setup.key);
      expect(await actorOf(token)).to.equal('service:billing');
      expect(await actorOf(token)).to.equal('service:billing');
    });

    it('use the keys, algorithms and mapping of their issuer', async () => {
      const token = await signToken(setup.curve, {
        iss: OTHER_ISSUER,
        client_id: 'shop',
        sub: 'x',
      });
      expect(await actorOf(token)).to.equal('service:other.shop');
    });

    for (const [title, claims] of [
      ['claims without a value', () => ({ nbf: null, cnf: null, token_use: null, client: null })],
      ['one of several audiences', () => ({ aud: ['elsewhere', 'gateway'] })],
      ['an expiry within the skew', () => ({ exp: now() - 2 })],
      ['a time of issue in the future within the skew', () => ({ iat: now() + 2 })],
      ['a start of validity within the skew', () => ({ nbf: now() + 2 })],
      [
        'a list of permissions',
        () => ({ scope: undefined, permissions: ['crm.read', 'crm.write'] }),
      ],
      ['roles in a mapping', () => ({ scope: undefined, realm_access: { roles: ['crm.read'] } })],
      [
        'roles under a URL',
        () => ({ scope: undefined, 'https://issuer.example/roles': ['crm.read'] }),
      ],
    ] as [string, () => object][]) {
      it(`may have ${title}`, async () => {
        expect(await actorOf(await signToken(setup.key, claims()))).to.equal('service:billing');
      });
    }

    it('have the kind that a claim maps to', async () => {
      const root = await signToken(setup.key, { client: { type: 'root' }, scope: '' });
      expect(await actorOf(root)).to.equal('system:billing');
      const human = await signToken(setup.key, { client: { type: 'human' } });
      expectProblem(await get(human), 403);
    });

    it('have only the scopes that are allowed for their issuer', async () => {
      const claims = { iss: OTHER_ISSUER, client_id: 'shop', scope: 'crm.write console.admin' };
      expectProblem(await get(await signToken(setup.curve, claims)), 403);
    });

    for (const typ of ['JWT', 'JOSE', 'at+jwt', 'application/at+jwt', 'application/jwt']) {
      it(`may be of the type ${typ}`, async () => {
        expect(await actorOf(await signToken(setup.key, {}, { typ }))).to.equal('service:billing');
      });
    }

    for (const name of ['jku', 'x5u', 'x5c', 'jwk', 'x5t']) {
      it(`may name a key in ${name}, which is ignored and not requested`, async () => {
        const other = await startFakeIssuer([setup.stranger]);
        const named = { x5c: ['AA'], jwk: setup.stranger.jwk }[name] ?? other.url;
        const header = { [name]: named };
        expect(await actorOf(await signToken(setup.key, {}, header))).to.equal('service:billing');
        expectProblem(await get(await signToken(setup.stranger, {}, header)), 401);
        expect(other.requestCount).to.equal(0);
        await other.close();
      });
    }
  });

  describe('that are not valid', () => {
    const withHeader = (header: object) => () => signToken(setup.key, {}, header);
    // Created when the test runs, so that times are current.
    const withClaims = (claims: () => object) => () => signToken(setup.key, claims());
    const unsigned = (header: unknown, payload: unknown = createClaims(), signature = '') =>
      `${encode(header)}.${encode(payload)}.${signature}`;
    /** Signed like the valid ones, over any header and payload text. */
    const signRaw = async (header: string, payload: string) => {
      const input = `${encode(header)}.${encode(payload)}`;
      const signature = await crypto.subtle.sign(
        'RSASSA-PKCS1-v1_5',
        setup.key.privateKey,
        Buffer.from(input),
      );
      return `${input}.${Buffer.from(signature).toString('base64url')}`;
    };
    const confuse = async (secret: (spki: string) => string | Buffer) => {
      const spki = await exportSPKI(setup.key.publicKey);
      const input = `${encode({ alg: 'HS256', kid: 'first' })}.${encode(createClaims())}`;
      return `${input}.${createHmac('sha256', secret(spki)).update(input).digest('base64url')}`;
    };
    const header = '{"alg":"RS256","kid":"first"}';
    const payload = (more: string) => `${JSON.stringify(createClaims()).slice(0, -1)},${more}}`;

    const ATTACKS: Readonly<Record<string, () => string | Promise<string>>> = {
      'to the algorithm none': () => unsigned({ alg: 'none' }),
      'to the algorithm None': () => unsigned({ alg: 'None', kid: 'first' }),
      'to the algorithm nOnE with a signature': () => unsigned({ alg: 'nOnE' }, undefined, 'AA'),
      'to an empty signature': async () => (await signToken(setup.key)).replace(/[^.]+$/, ''),
      'to no algorithm': () => signRaw('{"kid":"first"}', JSON.stringify(createClaims())),
      'to the public key as an HMAC secret': () => confuse((spki) => spki),
      'to the public key without its last line break': () => confuse((spki) => spki.trim()),
      'to the public key in DER as an HMAC secret': () =>
        confuse((spki) => createPublicKey(spki).export({ type: 'spki', format: 'der' })),
      'to an algorithm that the issuer does not use': async () =>
        signToken({ ...(await createSigningKey('first', 'PS256')) }),
      "to the issuer's name over a key of another issuer": () => signToken(setup.curve),
      'to an unknown key': () => signToken(setup.stranger),
      'to a changed payload': async () => {
        const [head, , signature] = (await signToken(setup.key)).split('.');
        return `${head}.${encode(createClaims({ sub: 'root' }))}.${signature}`;
      },
      'to a key id that is a path': () =>
        signToken(setup.stranger, {}, { kid: '../../../../dev/null' }),
      'to a key id that is an SQL statement': () =>
        signToken(setup.stranger, {}, { kid: "x' OR '1'='1" }),
      'to a key id that is a URL': () => signToken(setup.stranger, {}, { kid: setup.issuer.url }),
      'to a key id that is a member of every object': () =>
        signToken(setup.stranger, {}, { kid: '__proto__' }),
      'to a key id that is a number': () =>
        signRaw('{"alg":"RS256","kid":1}', JSON.stringify(createClaims())),
      'to a key id that is too long': () => signToken(setup.key, {}, { kid: 'k'.repeat(257) }),
      'to its own jwk': () => signToken(setup.stranger, {}, { jwk: setup.stranger.jwk }),
      'to a critical header': () =>
        signRaw('{"alg":"RS256","kid":"first","crit":["exp"]}', JSON.stringify(createClaims())),
      'to an unencoded payload': () =>
        signRaw('{"alg":"RS256","kid":"first","b64":false}', JSON.stringify(createClaims())),
      'to a token within a token': withHeader({ cty: 'JWT' }),
      'to a logout token': withHeader({ typ: 'logout+jwt' }),
      'to a proof of possession': withHeader({ typ: 'dpop+jwt' }),
      'to a token that is bound to a key': withClaims(() => ({ cnf: { jkt: 'x' } })),
      'to an expired token': withClaims(() => ({ exp: now() - 60 })),
      'to a token without expiry': withClaims(() => ({ exp: undefined })),
      'to an expiry that is a text': withClaims(() => ({ exp: String(now() + HOUR) })),
      'to a token that is not valid yet': withClaims(() => ({ nbf: now() + 60 })),
      'to a token issued in the future': withClaims(() => ({ iat: now() + 60 })),
      'to a token without a time of issue': withClaims(() => ({ iat: undefined })),
      'to a token that is too old, whatever its expiry': withClaims(() => ({
        iat: now() - 2 * HOUR,
      })),
      'to another audience': withClaims(() => ({ aud: 'elsewhere' })),
      'to an audience that only starts like the configured one': withClaims(() => ({
        aud: 'modgate.evil.example',
      })),
      'to no audience': withClaims(() => ({ aud: undefined })),
      'to another issuer': withClaims(() => ({ iss: 'https://evil.example' })),
      'to an issuer with a slash at its end': withClaims(() => ({ iss: `${ISSUER}/` })),
      'to a list of issuers': withClaims(() => ({ iss: [ISSUER] })),
      'to no issuer': withClaims(() => ({ iss: undefined })),
      'to no subject': withClaims(() => ({ sub: undefined })),
      'to a scope with a comma': withClaims(() => ({ scope: 'crm.read,crm.write' })),
      'to a scope with a space within': withClaims(() => ({ permissions: ['crm.read', 'a b'] })),
      'to scopes that are not words': withClaims(() => ({ scope: { 'crm.read': true } })),
      'to a token that is too long': withClaims(() => ({ filler: 'x'.repeat(11_300) })),
      'to two algorithms': () =>
        signRaw('{"alg":"none","alg":"RS256","kid":"first"}', JSON.stringify(createClaims())),
      'to two subjects': () => signRaw(header, payload('"sub":"root"')),
      'to two members one level down': () =>
        signRaw(header, payload('"client":{"type":"root","type":"machine"}')),
      'to a prototype': () => signRaw(header, payload('"__proto__":{"sub":"root"}')),
      'to endless nesting': () =>
        signRaw(header, payload(`"a":${'['.repeat(2000)}${']'.repeat(2000)}`)),
      'to a payload that is a list': () => signRaw(header, JSON.stringify([createClaims()])),
      'to a payload that is not UTF-8': async () => {
        const input = `${encode(header)}.${Buffer.from('{"iss":"\xff"}', 'latin1').toString('base64url')}`;
        return `${input}.AA`;
      },
      'to a payload with a byte-order mark': () =>
        signRaw(header, `\ufeff${JSON.stringify(createClaims())}`),
      'to an encrypted token': () => `${encode({ alg: 'dir', enc: 'A256GCM' })}..AA.AA.AA`,
      'to two parts': async () => (await signToken(setup.key)).split('.').slice(0, 2).join('.'),
      'to an extra part': async () => `${await signToken(setup.key)}.AA`,
      'to padding': async () => `${await signToken(setup.key)}==`,
      'to a token in quotes': async () => `"${await signToken(setup.key)}"`,
      'to dots': () => '..',
      'to a development token': () => 'dev-system:root',
    };

    for (const [title, attack] of Object.entries(ATTACKS)) {
      it(`get a 401 ${title}`, async () => {
        expectProblem(await get(await attack()), 401);
        expect(setup.provider.requests).to.have.length(0);
      });
    }

    it('get a 401 under another scheme, though the token is valid', async () => {
      const headers: [string, string][] = [['authorization', `DPoP ${await signToken(setup.key)}`]];
      expectProblem(await call(setup.host, { target: TARGET, as: null, headers }), 401);
    });

    it('get a 401 when an accepted token has expired', async () => {
      const token = await signToken(setup.key, { exp: now() });
      expect((await get(token)).status).to.equal(200);
      await waitUntil('the end of the skew', async () => (await get(token)).status === 401);
    });
  });

  it('are checked against the reloaded issuers file, keeping the last good version', async () => {
    const token = await signToken(setup.key);
    expect((await get(token)).status).to.equal(200);
    const changed = setup.describeIssuers();
    Object.assign(changed.issuers[0] ?? {}, { audience: 'another' });
    writeFileSync(setup.issuersFile, JSON.stringify(changed));
    await waitUntil('the new audience', async () => (await get(token)).status === 401);
    const moved = await signToken(setup.key, { aud: 'another' });
    expect((await get(moved)).status).to.equal(200);
    writeFileSync(setup.issuersFile, 'issuers: [');
    await waitUntil('a log line about the invalid file', () =>
      /issuers file is invalid/.test(setup.host.output()),
    );
    expect((await get(moved)).status).to.equal(200);
    writeFileSync(setup.issuersFile, JSON.stringify(setup.describeIssuers()));
    await waitUntil('the old audience', async () => (await get(token)).status === 200);
  });

  it('are never logged', async () => {
    const token = await signToken(setup.key, { jti: 'canary-in-a-claim' });
    const before = setup.host.output().length;
    await get(token);
    await waitUntil('the line of the request', () => setup.host.output().length > before);
    for (const part of token.split('.')) expect(setup.host.output()).not.to.include(part);
  });
});
