import { expect } from 'chai';
import { headerValue } from '../../../../core/selftest/raw-http.js';
import { call, parseJson } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';

const ROUTES = [
  { method: 'GET', path: '/open', capability: 'shop.read', access: 'public' },
  { method: 'POST', path: '/open', capability: 'shop.read', access: 'public' },
  { method: 'GET', path: '/closed', capability: 'shop.read' },
];
const CALLERS = {
  anonymous: null,
  stranger: 'dev-service:job',
  user: 'dev-user:ann',
  system: 'dev-system:root',
};
const JSON_BODY = [['content-type', 'application/json']] as const;

describe('public routes', () => {
  const setup = useHost((provider) => {
    const describe = (name: string, overrides: object) => ({
      [`${name}.json`]: describeModule(name, provider.url, ROUTES, overrides),
    });
    return {
      ...describe('shop', { public: true, callers: ['service'] }),
      ...describe('private', {}),
      ...describe('raw', { public: true, responses: { mode: 'raw' } }),
      ...describe('limited', { public: true, rate: { client_per_second: 0.01, client_burst: 2 } }),
    };
  });
  const ask = (target: string, as: string | null = null, method = 'GET') =>
    call(setup.host, { method, target: `/modules/${target}`, as });

  for (const [name, as] of Object.entries(CALLERS)) {
    it(`serve ${name}, whatever its kind and scopes`, async () => {
      const response = await ask('shop/http/open', as);
      expect(response.status, response.body.toString()).to.equal(200);
      const { headers } = setup.provider.only();
      const actor = as === null ? 'anonymous:anonymous' : as.replace('dev-', '');
      expect(headers).to.deep.include(['modgate-actor', actor]);
    });
  }

  it('serve HEAD, and bodies, without credentials', async () => {
    expect((await ask('shop/http/open', null, 'HEAD')).status).to.equal(200);
    const target = '/modules/shop/http/open';
    const body = Buffer.from('{"a":1}');
    const sent = await call(setup.host, {
      method: 'POST',
      target,
      as: null,
      headers: JSON_BODY,
      body,
    });
    expect(sent.status, sent.body.toString()).to.equal(200);
  });

  it('reject bad credentials', async () => {
    expectProblem(await ask('shop/http/open', 'unknown'), 401);
    expect(setup.provider.requests).to.deep.equal([]);
  });

  it('leave everything else 401, in the same words', async () => {
    const withoutIds = (target: string, method?: string) =>
      ask(target, null, method).then((response) => {
        const { request_id: _, correlation_id: __, ...rest } = expectProblem(response, 401);
        return rest;
      });
    const usual = await withoutIds('private/http/open');
    for (const target of [
      ...['shop/http/closed', 'shop/http/absent', 'absent/http/open', 'shop/http/open/%2e%2e'],
      ...['shop/http/open/', 'shop/http', 'private/http/closed'],
    ]) {
      expect(await withoutIds(target), target).to.deep.equal(usual);
    }
    expect(await withoutIds('shop/http/open', 'PUT')).to.deep.equal(usual);
    expect(await withoutIds('shop/http/console-bridge/shop.read', 'POST')).to.deep.equal(usual);
    expect(setup.provider.requests).to.deep.equal([]);
  });

  it('need their capability where the descriptor does not open them', async () => {
    expectProblem(await ask('private/http/open', 'dev-service:job'), 403);
    expect((await ask('private/http/open', 'dev-service:job:shop.read')).status).to.equal(200);
  });

  it('keep what the provider allows caches, for anonymous callers alone', async () => {
    const headers = [...JSON_BODY, ['cache-control', 'public, s-maxage=60'] as const];
    setup.provider.answer({ headers });
    const read = async (as: string | null) =>
      headerValue((await ask('raw/http/open', as)).headers, 'cache-control');
    expect(await read(null)).to.equal('public, s-maxage=60');
    expect(await read('dev-service:job')).to.equal('private');
  });

  it('are limited by address, with and without credentials', async () => {
    expect((await ask('limited/http/open')).status).to.equal(200);
    expect((await ask('limited/http/open', 'dev-system:root')).status).to.equal(200);
    const limited = await ask('limited/http/open');
    const { errors } = expectProblem(limited, 429);
    expect(errors).to.deep.equal([{ field: 'client', reason: 'rate limit' }]);
    expect(headerValue(limited.headers, 'retry-after')).to.match(/^\d+$/);
  });

  it('are documented as callable without credentials', async () => {
    const response = await call(setup.host, { target: '/openapi.json?module=shop' });
    const { paths } = parseJson(response) as {
      paths: Record<string, Record<string, { security: object[] }>>;
    };
    const securityOf = (path: string) => paths[`/modules/shop/http${path}`]?.['get']?.security;
    expect(securityOf('/open')?.[0]).to.deep.equal({});
    expect(securityOf('/closed')?.[0]).to.not.deep.equal({});
    expect(securityOf('/open')?.slice(1)).to.deep.equal(securityOf('/closed'));
  });

  it('are explained for a caller without credentials', async () => {
    const explain = async (path: string) => {
      const target = `/explain?method=GET&target=/modules/shop/http${path}`;
      const headers = [['modgate-explain-as', 'anonymous']] as const;
      return parseJson(await call(setup.host, { target, headers })) as {
        verdict: { status: number };
        actor: unknown;
      };
    };
    const open = await explain('/open');
    expect(open.verdict.status).to.equal(200);
    expect(open.actor).to.deep.equal({ kind: 'anonymous', id: 'anonymous', scopes: [] });
    expect((await explain('/closed')).verdict.status).to.equal(401);
  });
});
