import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { useHost } from '../support/http/use-host.js';

/** Headers that proxies add to a request. */
const ADDED = [
  ['forwarded', 'for=192.0.2.1'],
  ['x-forwarded-for', '192.0.2.1'],
  ['X-Forwarded-Proto', 'https'],
  ['x_forwarded_for', '192.0.2.1'],
  ['x-real-ip', '192.0.2.1'],
  ['via', '1.1 proxy'],
] as const;

describe('the rights of loopback', () => {
  const production = useHost(() => ({}), { dev: false, tokens: { tokens: [] } });
  const named = useHost(() => ({}), {
    dev: false,
    tokens: { tokens: [] },
    args: ['--public-url', 'https://gateway.example'],
  });
  const local = useHost(() => ({}), {
    dev: false,
    tokens: { tokens: [] },
    args: ['--public-url', 'http://localhost:3000'],
  });
  const development = useHost(() => ({}));
  const anywhere = useHost(() => ({}), { args: ['--allow-dev-auth-anywhere'] });
  const namedDevelopment = useHost(() => ({}), {
    args: ['--public-url', 'https://gateway.example'],
  });

  const metrics = (headers: readonly (readonly [string, string])[] = []) =>
    call(production.host, { target: '/metrics', as: null, headers });

  it('show metrics without a token to a client on this machine', async () => {
    expect((await metrics()).status).to.equal(200);
    expect((await call(local.host, { target: '/metrics', as: null })).status).to.equal(200);
  });

  it('end where a proxy has passed the request on', async () => {
    for (const header of ADDED) {
      expectProblem(await metrics([header]), 401, 'unauthorized');
      const request = { target: '/modules', as: 'dev-system:root', headers: [header] };
      expectProblem(await call(development.host, request), 401, 'unauthorized');
      expect((await call(anywhere.host, request)).status).to.equal(200);
      const signIn = await call(production.host, {
        target: '/console/api/sign-in',
        as: null,
        headers: [header],
      });
      expect(parseJson(signIn)['available']).to.equal(false);
    }
  });

  it('end with a sign-in that names the missing setting', async () => {
    const headers = [
      ['host', 'console.example'],
      ['origin', 'http://console.example'],
      JSON_TYPE,
    ] as const;
    for (const path of ['/session', '/session/developer']) {
      const target = `/console/api${path}`;
      const body = Buffer.from('{"token":"x"}');
      const request = { method: 'POST', target, as: null, headers, body };
      const response = await call(production.host, request);
      expectProblem(response, 403, 'forbidden');
      expect(parseJson(response)['detail']).to.contain('set --public-url');
    }
  });

  it('end where the public URL names another host', async () => {
    expectProblem(await call(named.host, { target: '/metrics', as: null }), 401, 'unauthorized');
    const request = { target: '/modules', as: 'dev-system:root' };
    expectProblem(await call(namedDevelopment.host, request), 401, 'unauthorized');
    expect((await call(namedDevelopment.host, { target: '/livez', as: null })).status).to.equal(
      200,
    );
  });
});
