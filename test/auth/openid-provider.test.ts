import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.js';
import { call } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import {
  CLIENT,
  GATEWAY,
  JWT_AUDIENCE,
  OPAQUE_AUDIENCE,
  startOpenIdProvider,
} from '../support/openid-provider.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const TARGET = '/modules/crm/http/items';

describe('an OpenID provider', () => {
  let provider: EchoProvider;
  const get = (as: string) => call(host, { target: TARGET, as });
  const expectActor = async (token: string) => {
    const response = await get(token);
    expect(response.status, response.body.toString()).to.equal(200);
    expect(headerValue(provider.only().headers, 'modgate-actor')).to.equal(`service:${CLIENT.id}`);
  };

  const folder = createFolder();
  const openId = use(startOpenIdProvider);
  const host = use(async () => {
    const issuersFile = join(folder, 'issuers.json');
    const actor = { kind: 'service', id: 'client_id' };
    const issuers = {
      issuers: [
        {
          issuer: openId.issuer,
          audience: JWT_AUDIENCE,
          algorithms: ['RS256'],
          jwks: { url: `${openId.issuer}/jwks` },
          actor,
        },
      ],
      introspection: [
        {
          name: 'openid',
          url: `${openId.issuer}/token/introspection`,
          client_id: GATEWAY.id,
          client_secret: 'env:GATEWAY_SECRET',
          issuer: openId.issuer,
          audience: OPAQUE_AUDIENCE,
          cache_seconds: 1,
          actor,
        },
      ],
    };
    writeFileSync(issuersFile, JSON.stringify(issuers));
    provider = await startEchoProvider();
    return startHost({
      dev: false,
      args: ['--issuers', issuersFile, '--log-level', 'debug'],
      env: { GATEWAY_SECRET: GATEWAY.secret },
      files: {
        'crm.json': describeModule('crm', provider.url, [
          { method: 'GET', path: '/items', capability: 'crm.read' },
        ]),
      },
    });
  });

  beforeEach(() => provider.reset());

  after(async () => {
    expect(host.output()).not.to.include(GATEWAY.secret);
    await provider.close();
  });

  it('authenticates a client with a signed token without a request', async () => {
    const before = openId.introspections;
    const token = await openId.requestToken(JWT_AUDIENCE, 'crm.read');
    expect(token.split('.')).to.have.length(3);
    await expectActor(token);
    expect(openId.introspections).to.equal(before);
  });

  it('responds with 403 to a client without the scope', async () => {
    expectProblem(await get(await openId.requestToken(JWT_AUDIENCE, 'crm.write')), 403);
    expectProblem(await get(await openId.requestToken(OPAQUE_AUDIENCE, 'crm.write')), 403);
  });

  it('rejects tokens for another audience, signed or opaque', async () => {
    const opaque = await openId.requestToken('urn:elsewhere', 'crm.read');
    expectProblem(await get(opaque), 401);
    const before = openId.introspections;
    const token = await openId.requestToken(JWT_AUDIENCE, 'crm.read');
    expectProblem(await get(`${token.slice(0, -6)}AAAAAA`), 401);
    expect(openId.introspections, 'a signed token is verified by its keys only').to.equal(before);
  });

  it('authenticates a client with an opaque token, with one request for many calls', async () => {
    const token = await openId.requestToken(OPAQUE_AUDIENCE, 'crm.read');
    const before = openId.introspections;
    const responses = await Promise.all(Array.from({ length: 10 }, () => get(token)));
    expect(responses.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
    expect(openId.introspections).to.equal(before + 1);
    provider.reset();
    await expectActor(token);
  });

  it('rejects a revoked token once its cached result has expired', async () => {
    const token = await openId.requestToken(OPAQUE_AUDIENCE, 'crm.read');
    expect((await get(token)).status).to.equal(200);
    await openId.revoke(token);
    await waitUntil('the end of the memory', async () => (await get(token)).status === 401);
  });

  it('is not requested repeatedly for an unknown token', async () => {
    const before = openId.introspections;
    for (let index = 0; index < 5; index += 1) expectProblem(await get('unknown-token'), 401);
    expect(openId.introspections).to.equal(before + 1);
  });

  it('is not requested for a malformed token', async () => {
    const before = openId.introspections;
    for (const token of ['a b', 'a&b', 'tökén', 'x'.repeat(15 * 1024 + 1)]) {
      expectProblem(await get(token), 401);
    }
    expect(openId.introspections).to.equal(before);
  });

  it('rejects tokens while it is down, except those verified a moment ago', async () => {
    const token = await openId.requestToken(OPAQUE_AUDIENCE, 'crm.read');
    const signed = await openId.requestToken(JWT_AUDIENCE, 'crm.read');
    openId.fail(true);
    try {
      expectProblem(await get(token), 503);
      expect((await get(signed)).status).to.equal(200);
      await waitUntil('the log line', () => host.output().includes('responded with 503'));
    } finally {
      openId.fail(false);
    }
    expect((await get(token)).status, 'a failure is not remembered').to.equal(200);
  });
});
