import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../../core/selftest/raw-http.js';
import { call } from '../../../support/http/call.js';
import { readCorpus } from '../../../support/http/corpus.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';
import { startHost } from '../../../support/start-host.js';

interface Tokens {
  readonly accepted: readonly {
    readonly title: string;
    readonly authorization: string;
    readonly actor: string;
  }[];
  readonly refused: readonly { readonly title: string; readonly headers: readonly RawHeader[] }[];
}

const TARGET = '/modules/crm/http/items';
const ROUTES = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'GET', path: '/odd', capability: 'crm:read' },
];
const LONGEST_ID = 'i'.repeat(128);
const LOOPBACK_HOSTS = ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', '127.0.0.2'];
const OTHER_HOSTS = [
  'example.com',
  'localhost.example.com',
  '127.0.0.1.example.com',
  '127.0.0.1.nip.io',
  'localhostx',
  'xlocalhost',
  '128.0.0.1',
  '10.0.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '[::2]',
  '[fe80::1]',
];

describe('dev tokens', () => {
  const setup = useHost((provider) => ({
    'crm.json': describeModule('crm', provider.url, ROUTES),
  }));
  const tokens = readCorpus<Tokens>('dev-tokens');

  for (const { title, authorization, actor } of tokens.accepted) {
    it(`accept ${title}`, async () => {
      const headers: RawHeader[] = [['authorization', authorization]];
      const response = await call(setup.host, { target: TARGET, as: null, headers });
      expect(response.status, response.body.toString()).to.equal(200);
      expect(headerValue(setup.provider.only().headers, 'modgate-actor')).to.equal(actor);
    });
  }

  for (const { title, headers } of tokens.refused) {
    it(`answer 401 to ${title}`, async () => {
      const response = await call(setup.host, { target: TARGET, as: null, headers });
      expectProblem(response, 401);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('accept an id of at most 128 characters', async () => {
    const longest = await call(setup.host, { target: TARGET, as: `dev-system:${LONGEST_ID}` });
    expect(longest.status).to.equal(200);
    expectProblem(await call(setup.host, { target: TARGET, as: `dev-system:${LONGEST_ID}i` }), 401);
  });

  it('accept a colon in a scope', async () => {
    const as = 'dev-service:probe:crm:read';
    const response = await call(setup.host, { target: '/modules/crm/http/odd', as });
    expect(response.status).to.equal(200);
  });

  it('are ignored in the query', async () => {
    const target = `${TARGET}?access_token=dev-system:root&authorization=Bearer%20dev-system:root`;
    expectProblem(await call(setup.host, { target, as: null }), 401);
  });

  for (const name of LOOPBACK_HOSTS) {
    it(`accept the Host ${name}`, async () => {
      for (const host of [name, `${name}:${setup.host.port}`]) {
        const headers: RawHeader[] = [['host', host]];
        expect((await call(setup.host, { target: TARGET, headers })).status, host).to.equal(200);
      }
    });
  }

  for (const name of OTHER_HOSTS) {
    it(`answer 403 to the Host ${name}`, async () => {
      for (const host of [name, `${name}:${setup.host.port}`]) {
        const headers: RawHeader[] = [['host', host]];
        expectProblem(await call(setup.host, { target: TARGET, headers }), 403);
        expectProblem(await call(setup.host, { target: '/modules', headers }), 403);
        expectProblem(await call(setup.host, { target: TARGET, as: null, headers }), 403);
      }
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('reject a target with another host', async () => {
    for (const target of ['/modules', '/livez', TARGET]) {
      const response = await call(setup.host, { target: `http://evil.example${target}` });
      expect(response.status, target).to.be.oneOf([400, 403, 404]);
      expectProblem(response, response.status);
    }
  });
});

describe('--allow-dev-auth-anywhere', () => {
  it('listens on all addresses and accepts any Host', async () => {
    const host = await startHost({ args: ['--host', '0.0.0.0', '--allow-dev-auth-anywhere'] });
    try {
      const headers: RawHeader[] = [['host', 'example.com']];
      expect((await call(host, { target: '/livez', as: null, headers })).status).to.equal(200);
      expectProblem(await call(host, { target: '/modules/x/http/a', headers }), 404);
    } finally {
      await host.stop();
    }
  });
});
