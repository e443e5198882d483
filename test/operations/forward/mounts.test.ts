import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const ROUTES = [
  { method: 'GET', path: '/', capability: 'shop.read' },
  { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
  { method: 'GET', path: '/open', capability: 'shop.read', access: 'public' },
  { method: 'GET', path: '/{rest...}', capability: 'shop.rest' },
];

describe('mounts', () => {
  const setup = useHost((provider) => {
    const describe = (name: string, mount: object[], overrides: object = {}) => ({
      [`${name}.json`]: describeModule(name, provider.url, ROUTES, { mount, ...overrides }),
    });
    return {
      ...describe('orders', [{ path: '/api/orders' }, { host: 'API.example.', path: '/v1' }], {
        public: true,
        responses: { mode: 'raw' },
      }),
      ...describe('inner', [{ path: '/api/orders/inner' }]),
      ...describe('site', [{ host: 'site.example:8443', path: '/' }], {
        responses: { mode: 'raw' },
      }),
      ...describe('off', [{ path: '/off' }], { enabled: false }),
      ...describe('bad', [{ path: '/bad' }], { limits: { timeout_ms: 'soon' } }),
      ...describe('thief', [{ path: '/thief' }, { path: '/api/orders' }]),
    };
  });
  const ask = (target: string, host?: string, as: string | null = 'dev-system:root') =>
    call(setup.host, { target, as, ...(host && { headers: [['host', host]] }) });
  const reached = async (target: string, host?: string) => {
    const response = await ask(target, host);
    expect(response.status, `${target}: ${response.body}`).to.equal(200);
    const { target: provider } = setup.provider.only();
    setup.provider.reset();
    return provider;
  };

  it('answer as the own path of the module does, which stays', async () => {
    expect(await reached('/api/orders/items/7?x=1')).to.equal('/items/7?x=1');
    expect(await reached('/modules/orders/http/items/7')).to.equal('/items/7');
    for (const root of ['/api/orders', '/api/orders/', '/api/orders?x']) {
      expect(await reached(root), root).to.match(/^\/(\?x)?$/);
    }
  });

  it('are compared with the raw path', async () => {
    for (const target of [
      ...['/api/ordersx', '/api/order', '/API/orders/items/7', '/api%2Forders/items/7'],
      ...['/%61pi/orders/items/7', '//api/orders/items/7', '/x/../api/orders/items/7', '/api'],
    ]) {
      expectProblem(await ask(target), 404);
    }
    for (const target of [
      '/api/orders/../items/7',
      '/api/orders//items/7',
      '/api/orders/%2e%2e/x',
    ]) {
      const response = await ask(target);
      expectProblem(response, 404);
      expect(headerValue(response.headers, 'modgate-origin')).to.equal('host');
    }
    expect(setup.provider.requests).to.deep.equal([]);
  });

  it('serve only their host, regardless of case, port and final dot, if they name one', async () => {
    for (const host of ['api.example', 'Api.Example:1234', 'api.example.']) {
      expect(await reached('/v1/items/7', host), host).to.equal('/items/7');
    }
    expectProblem(await ask('/v1/items/7'), 404);
    for (const host of ['api.example.evil', 'x.api.example', 'api', 'site.example.evil']) {
      expectProblem(await ask('/v1/items/7', host), 403);
    }
    expectProblem(await ask('http://api.example/v1/items/7', 'api.example'), 404);
    expect(await reached('/api/orders/items/7', 'api.example')).to.equal('/items/7');
  });

  it('are tried from the longest path', async () => {
    expect(parseJson(await ask('/api/orders/inner/items/7'))).to.include({ module_name: 'inner' });
    expect(await reached('/api/orders/innermost').catch(String)).to.be.a('string');
  });

  it('are named in the log line and the record of a call', async () => {
    const send = (id: string, target: string, host = 'x', as = 'dev-system:root') =>
      call(setup.host, {
        target,
        as,
        headers: [
          ['host', host],
          ['x-request-id', id],
        ],
      });
    await send('mount-1', '/v1/items/7', 'API.example:8080');
    await send('mount-2', '/api/orders/nowhere', '127.0.0.1', 'dev-service:a');
    await send('mount-3', '/modules/orders/http/items/7', '127.0.0.1');
    const mounts = ['api.example/v1', '/api/orders', undefined];
    for (const [index, mount] of mounts.entries()) {
      const id = `mount-${index + 1}`;
      const listed = parseJson(await ask(`/calls?request_id=${id}`)) as { calls: object[] };
      const explained = parseJson(await ask(`/explain?request_id=${id}`)) as { calls: object[] };
      const find = () => setup.host.logs().find((line) => line['request_id'] === id);
      await waitUntil('the line', () => find() !== undefined);
      for (const record of [listed.calls[0], explained.calls[0], find()]) {
        expect((record as { mount?: string }).mount).to.equal(mount);
      }
    }
  });

  it('leave the host of a mount of / only checks of the state and Problems', async () => {
    for (const target of [
      '/metrics',
      '/modules',
      '/modules/orders/http/open',
      '/console',
      '/docs',
    ]) {
      expect(await reached(target, 'site.example'), target).to.equal(target);
    }
    expect((await ask('/livez', 'site.example', null)).status).to.equal(200);
    expect((await ask('/readyz', 'site.example', null)).status).to.equal(200);
    expect((await ask('/problems/not_found', 'site.example', null)).status).to.equal(200);
    expect(setup.provider.requests).to.deep.equal([]);
    expectProblem(await ask('/metrics', 'site.example', null), 401);
  });

  it('have no console bridge', async () => {
    const target = '/api/orders/console-bridge/shop.read';
    const response = await call(setup.host, { method: 'POST', target, as: 'dev-system:root' });
    expectProblem(response, 404);
  });

  it('serve public routes without credentials, and nothing else', async () => {
    expect((await ask('/api/orders/open', undefined, null)).status).to.equal(200);
    expectProblem(await ask('/api/orders/items/7', undefined, null), 401);
    expectProblem(await ask('/thief/items/7', undefined, null), 401);
  });

  it('are what references lead to', async () => {
    const location = `${setup.provider.url}/items/8`;
    setup.provider.answer({
      headers: [
        ['content-type', 'application/json'],
        ['location', location],
      ],
    });
    for (const [target, host, expected] of [
      ['/modules/orders/http/items/7', undefined, '/modules/orders/http/items/8'],
      ['/api/orders/items/7', undefined, '/api/orders/items/8'],
      ['/v1/items/7', 'api.example', '/v1/items/8'],
      ['/items/7', 'site.example', '/items/8'],
    ] as const) {
      const { headers } = await ask(target, host);
      expect(headerValue(headers, 'location')).to.equal(expected);
    }
    const foreign = `${setup.provider.url}//evil.example/`;
    setup.provider.answer({
      headers: [
        ['content-type', 'application/json'],
        ['location', foreign],
      ],
    });
    const { headers } = await ask('/items/7', 'site.example');
    expect(headerValue(headers, 'location')).to.equal(undefined);
  });

  it('stay with a rejected module, and not with a disabled one', async () => {
    expectProblem(await ask('/bad/x', undefined, null), 401);
    expectProblem(await ask('/bad/x'), 404);
    expectProblem(await ask('/off/items/7', undefined, null), 404);
  });

  it('are listed with their modules, and taken by one file alone', async () => {
    const { modules } = parseJson(await ask('/modules')) as { modules: Record<string, unknown>[] };
    const find = (name: string) => modules.find((module) => module['name'] === name);
    expect(find('orders')?.['mounts']).to.deep.equal([
      { path: '/api/orders' },
      { host: 'api.example', path: '/v1' },
    ]);
    expect(find('off')).to.not.have.property('mounts');
    expect(find('thief')).to.deep.include({
      state: 'refused',
      reason: "mount '/api/orders' is already taken by orders.json",
    });
  });

  it('are in records and explanations of calls', async () => {
    const explained = async (target: string) => {
      const query = new URLSearchParams({ method: 'GET', target });
      return parseJson(await ask(`/explain?${query}`)) as {
        path: { module: string | null; forward_target: string | null; mount?: object };
      };
    };
    expect((await explained('/api/orders/items/7')).path).to.deep.include({
      module: 'orders',
      forward_target: '/items/7',
      mount: { path: '/api/orders' },
    });
    expect((await explained('https://api.example:8443/v1/items/7?a=1#b')).path).to.deep.include({
      module: 'orders',
      forward_target: '/items/7?a=1',
    });
    expect((await explained('https://other.example/v1/items/7')).path.module).to.equal(null);
  });
});
