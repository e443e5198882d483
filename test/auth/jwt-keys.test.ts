import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { OTHER_ISSUER, SILENT_ISSUER, useSignedTokens } from '../support/auth/use-signed-tokens.js';
import { createSigningKey, signToken } from '../support/fake-issuer.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';

describe('signed tokens', () => {
  const setup = useSignedTokens();
  const { get, actorOf } = setup;

  describe('with a key set', () => {
    it('request keys again when a token names an unknown one, but not for each such token', async () => {
      const next = await createSigningKey('second');
      setup.issuer.publish([setup.key, next]);
      const token = await signToken(next);
      await waitUntil('the new key', async () => (await get(token)).status === 200);
      const before = setup.issuer.requestCount;
      const started = Date.now();
      for (let index = 0; index < 50; index += 1) {
        const unknown = await signToken(setup.stranger, { index }, { kid: `unknown-${index}` });
        expectProblem(await get(unknown), 401);
      }
      // One request per second because of the cool-down, and one for the current second.
      const allowed = Math.ceil((Date.now() - started) / 1000) + 1;
      expect(setup.issuer.requestCount - before).to.be.at.most(allowed);
    });

    for (const [title, respond] of [
      ['is down', (response) => response.destroy()],
      ['responds with 500', (response) => response.writeHead(500).end()],
      [
        'redirects',
        (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      ],
      ['responds without JSON', (response) => response.end('<html>')],
      [
        'compresses its keys unasked',
        (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('{}')),
      ],
      ['responds without keys', (response) => response.end('{"keys":[]}')],
      [
        'sends an endless response',
        (response) => {
          response.write(`{"keys":[],"x":"${'x'.repeat(300_000)}"`);
        },
      ],
    ] as [string, (response: import('node:http').ServerResponse) => void][]) {
      it(`keep their keys while the issuer ${title}`, async () => {
        setup.issuer.answer(respond);
        try {
          const before = setup.issuer.requestCount;
          await waitUntil('a request to the issuer', async () => {
            const unknown = await signToken(
              setup.stranger,
              { jti: String(Math.random()) },
              { kid: 'nope' },
            );
            expectProblem(await get(unknown), 401);
            return setup.issuer.requestCount > before;
          });
          expect(await actorOf(await signToken(setup.key, { jti: title }))).to.equal(
            'service:billing',
          );
        } finally {
          setup.issuer.answer(null);
        }
      });
    }

    it('use a new key under the id of an old one, and request it once for each cool-down', async () => {
      const old = setup.key;
      const next = await createSigningKey('first');
      const unnamed = await createSigningKey('first');
      const withoutId = { ...unnamed, jwk: { ...unnamed.jwk, kid: undefined } };
      for (const [title, keys, key, header] of [
        ['in its place', [next], next, {}],
        ['beside it', [old, next], next, {}],
        ['without an id', [old, next, withoutId], unnamed, { kid: undefined }],
      ] as const) {
        setup.issuer.publish(keys);
        const token = await signToken(key, {}, header as { kid?: string });
        await waitUntil(title, async () => (await get(token)).status === 200);
      }
      const before = setup.issuer.requestCount;
      const started = Date.now();
      for (let index = 0; index < 50; index += 1) {
        expectProblem(await get(await signToken(setup.stranger, { index })), 401);
      }
      const allowed = Math.ceil((Date.now() - started) / 1000) + 1;
      expect(setup.issuer.requestCount - before).to.be.at.most(allowed);
      setup.issuer.publish([old]);
      const again = await signToken(old, { jti: 'again' });
      await waitUntil('the old key', async () => (await get(again)).status === 200);
    });

    it('are requested as a key set too, which is all that Kubernetes has', async () => {
      const next = await createSigningKey('as-set');
      const text = JSON.stringify({ keys: [setup.key.jwk, next.jwk] });
      setup.issuer.answer((response) => {
        const isAsked = response.req.headers.accept?.includes('application/jwk-set+json') === true;
        response.writeHead(isAsked ? 200 : 406, { 'content-type': 'application/jwk-set+json' });
        response.end(isAsked ? text : '{}');
      });
      try {
        const token = await signToken(next);
        await waitUntil('the new key', async () => (await get(token)).status === 200);
      } finally {
        setup.issuer.answer(null);
      }
    });

    it('are neither accepted nor rejected while the issuer is unavailable and no key is known', async () => {
      expectProblem(await get(await signToken(setup.key, { iss: SILENT_ISSUER })), 503);
      expect(setup.provider.requests).to.have.length(0);
    });

    it('ignore weak keys, which the log names', async () => {
      const next = await createSigningKey('third');
      setup.issuer.publish([
        setup.key,
        next,
        { ...setup.key, jwk: { ...setup.key.jwk, kid: 'weak-one', e: 'AQ' } },
      ]);
      const token = await signToken(next);
      await waitUntil('the new key', async () => (await get(token)).status === 200);
      expectProblem(await get(await signToken(setup.key, {}, { kid: 'weak-one' })), 401);
      const findWarning = () =>
        setup.host.logs().find(({ msg }) => msg === 'weak issuer keys ignored');
      await waitUntil('the warning', () => findWarning() !== undefined);
      expect(findWarning()?.['reasons']).to.deep.equal([
        "key 'weak-one': its RSA exponent must be odd and at least 3",
      ]);
    });

    it('reload their keys with the file', async () => {
      const next = await createSigningKey('curve-2', 'ES256');
      const claims = { iss: OTHER_ISSUER, client_id: 'shop' };
      const [before, after] = [await signToken(setup.curve, claims), await signToken(next, claims)];
      expectProblem(await get(after), 401);
      writeFileSync(join(setup.folder, 'keys.json'), JSON.stringify({ keys: [next.jwk] }));
      await waitUntil('the new key', async () => (await get(after)).status === 200);
      expect((await get(before)).status, 'a key that is gone').to.equal(401);
      writeFileSync(join(setup.folder, 'keys.json'), '{"keys":[]}');
      await waitUntil('a log line about the invalid file', () =>
        /file of issuer keys is invalid/.test(setup.host.output()),
      );
      const weak = (await createSigningKey('small')).jwk;
      writeFileSync(
        join(setup.folder, 'keys.json'),
        JSON.stringify({ keys: [next.jwk, { ...weak, e: 'AQ' }] }),
      );
      await waitUntil('the weak key', () =>
        /key 'small': its RSA exponent must be odd/.test(setup.host.output()),
      );
      expect((await get(after)).status).to.equal(200);
    });
  });
});
