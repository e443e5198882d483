import { expect } from 'chai';
import { HOST_PATHS } from '../../core/http/routes/host-paths.js';
import { createHostRoutes, type HostRoutesOptions } from '../../core/http/routes/host-routes.js';
import { Authorization, authorize } from '../../core/operations/authorization.js';
import { Reply } from '../../core/operations/reply.js';
import { describeItems } from '../support/provider/routes.js';
import { type RunningHost, startHost } from '../support/start-host.js';

/** The routes without authentication. */
const PUBLIC = ['/livez', '/readyz', '/problems/:code', '/.well-known/jwks.json'];

interface Layer {
  readonly path: string;
  readonly methods: readonly string[];
}

const CALLERS = ['service'] as const;

/** Every route of the router. */
function listHostRoutes(): Layer[] {
  const [routes] = createHostRoutes({} as HostRoutesOptions);
  const { router } = routes as unknown as { readonly router: { readonly stack: readonly Layer[] } };
  return router.stack.map(({ path, methods }) => ({ path, methods }));
}

describe('authorization', () => {
  let host: RunningHost;

  before(async () => {
    // In production and on every address, so that no route is public because of loopback.
    host = await startHost({
      dev: false,
      args: ['--env', 'production', '--host', '0.0.0.0'],
      tokens: { tokens: [] },
      files: { 'crm.json': describeItems('crm', { endpoints: ['http://127.0.0.1:9'] }) },
    });
  });

  after(() => host.stop());

  const routes = listHostRoutes();

  it('covers every route of the host', () => {
    expect(routes.map(({ path }) => path)).to.have.members([...HOST_PATHS]);
  });

  for (const { path, methods } of routes) {
    const expected = PUBLIC.includes(path) ? 200 : 401;
    for (const method of methods) {
      it(`answers ${method} ${path} with ${expected} without credentials`, async () => {
        const target = path.replace(':code', 'not_found');
        const response = await fetch(`http://127.0.0.1:${host.port}${target}`, { method });
        expect(response.status).to.equal(expected);
      });
    }
  }

  const modules = ['/modules/crm/http/items', '/modules/crm/http/console-bridge/crm.read'];
  for (const path of [...modules, '/modules/none/http/items', '/modules/%00/http/items']) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      it(`answers ${method} ${path} with 401 without credentials`, async () => {
        const response = await fetch(`http://127.0.0.1:${host.port}${path}`, { method });
        expect(response.status).to.equal(401);
      });
    }
  }

  it('rejects a forged authorization', () => {
    const forged = Object.create(Authorization.prototype) as Authorization;
    expect(() => Reply.ok(forged, [Buffer.from('{}')])).to.throw('was not made by authorize()');
    expect(() => Reply.ok({} as Authorization, [Buffer.from('{}')])).to.throw(
      'was not made by authorize()',
    );
    const made = authorize(null, { kind: 'public' });
    expect(() => Reply.error(200, '{}', 'application/json', [])).to.throw('needs an authorization');
    expect(Reply.json(made, {}).length).to.equal(2);
  });

  it('allows only public requirements without an actor', () => {
    expect(() => authorize(null, { kind: 'scope', scope: 'a' })).to.throw(
      'only public requirements',
    );
    expect(() =>
      authorize(null, { kind: 'capability', capability: null, callers: CALLERS }),
    ).to.throw('only public requirements');
  });

  it('denies actors without the required scope', () => {
    const actor = { kind: 'service', id: 'a', scopes: new Set(['b']) } as const;
    expect(() => authorize(actor, { kind: 'scope', scope: 'c' })).to.throw('a scope of the host');
    expect(() =>
      authorize(actor, { kind: 'capability', capability: null, callers: CALLERS }),
    ).to.throw('no caller may');
    expect(() =>
      authorize(actor, { kind: 'capability', capability: 'B', callers: CALLERS }),
    ).to.throw('is required');
    expect(() =>
      authorize(actor, { kind: 'capability', capability: 'b', callers: CALLERS }),
    ).not.to.throw();
  });
});
