import { expect } from 'chai';
import { loadResources } from '../../core/http/routes/host-resources.js';
import { HOST_PATHS } from '../../core/http/routes/host-route-list.js';
import { createHostRoutes } from '../../core/http/routes/host-routes.js';
import type { LiveModule } from '../../core/modules/live-module.js';
import { Authorization, authorize } from '../../core/operations/authorization.js';
import { Reply } from '../../core/operations/reply.js';
import { describeItems } from '../support/provider/routes.js';
import { startHost } from '../support/start-host.js';
import { use } from '../support/use.js';

/** The routes without authentication. */
/** Those of surfaces that are off. */
const OFF = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/*path',
];

const PUBLIC = ['/livez', '/readyz', '/problems/:code', '/.well-known/jwks.json'];

interface Layer {
  readonly path: string;
  readonly methods: readonly string[];
}

const CALLERS = ['service'] as const;
const RELEASE = `sha256:${'1'.repeat(64)}`;
const UI = `sha256:${'2'.repeat(64)}`;

/** Every route of the router. */
async function listHostRoutes(): Promise<Layer[]> {
  const [routes] = createHostRoutes({
    resources: await loadResources(),
    container: { resolve: () => ({}) as never },
    hasPublicMetrics: false,
    bodyTimeoutMs: 1000,
  });
  const { router } = routes as unknown as { readonly router: { readonly stack: readonly Layer[] } };
  return router.stack.map(({ path, methods }) => ({ path, methods }));
}

const routes = await listHostRoutes();

describe('authorization', () => {
  // In production and on every address, so that no route is public because of loopback.
  const host = use(() =>
    startHost({
      dev: false,
      args: ['--env', 'production', '--host', '0.0.0.0'],
      tokens: { tokens: [] },
      files: { 'crm.json': describeItems('crm', { endpoints: ['http://127.0.0.1:9'] }) },
    }),
  );

  it('covers every route of the host', () => {
    const paths = new Set(routes.map(({ path }) => path));
    expect([...paths]).to.have.members([...HOST_PATHS]);
  });

  for (const { path, methods } of routes) {
    const expected = OFF.includes(path) ? 404 : PUBLIC.includes(path) ? 200 : 401;
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

  it('rejects a forged authorization', async () => {
    const forged = Object.create(Authorization.prototype) as Authorization;
    expect(() => Reply.ok(forged, [Buffer.from('{}')])).to.throw('was not made by its checks');
    expect(() => Reply.ok({} as Authorization, [Buffer.from('{}')])).to.throw(
      'was not made by its checks',
    );
    const made = authorize(null, { kind: 'public' });
    expect(() => Reply.error(200, '{}', 'application/json', [])).to.throw('needs an authorization');
    expect((await Reply.json(made, {})).length).to.equal(2);
  });

  it('rejects an authorization that lacks one of its checks', () => {
    const actor = { kind: 'service', id: 'a', scopes: new Set(['b']) } as const;
    const console = { release: null, ui: [UI], grants: ['b'] };
    const module = { descriptor: { console }, manifestDigest: RELEASE } as unknown as LiveModule;
    const checks: Record<string, readonly ((authorization: Authorization) => void)[]> = {
      forRoute: [
        (authorization) => authorization.admitCaller(actor, CALLERS),
        (authorization) => authorization.admitCapability(actor, 'b'),
      ],
      forBridge: [
        (authorization) => authorization.admitPermission(actor, 'b'),
        (authorization) => authorization.admitGrant(module, 'b'),
        (authorization) => authorization.admitRelease(module, RELEASE),
        (authorization) => authorization.admitUi(module, UI, new Set()),
      ],
    };
    for (const create of ['forRoute', 'forBridge'] as const) {
      const all = checks[create] ?? [];
      const make = (passed: typeof all) => {
        const authorization = Authorization[create]();
        for (const check of passed) check(authorization);
        return () => Reply.json(authorization, {});
      };
      expect(make(all)).not.to.throw();
      for (const omitted of all) {
        expect(make(all.filter((check) => check !== omitted))).to.throw('not made by its checks');
      }
    }
  });

  it('allows only public requirements without an actor', () => {
    for (const requirement of [{ kind: 'scope', scope: 'a' }, { kind: 'authenticated' }] as const) {
      expect(() => authorize(null, requirement)).to.throw('only public requirements');
    }
  });

  it('denies actors without the required scope', () => {
    const actor = { kind: 'service', id: 'a', scopes: new Set(['b']) } as const;
    const user = { ...actor, kind: 'user' } as const;
    const authorization = Authorization.forRoute();
    expect(() => authorize(actor, { kind: 'scope', scope: 'c' })).to.throw('a scope of the host');
    expect(() => authorization.admitCapability(actor, null)).to.throw('no caller may');
    expect(() => authorization.admitCapability(actor, 'B')).to.throw('is required');
    expect(() => authorization.admitCapability(actor, 'b')).not.to.throw();
    expect(() => authorization.admitCaller(user, CALLERS)).to.throw('not open to this kind');
    expect(() => authorization.admitCaller(actor, CALLERS)).not.to.throw();
  });
});
