import { expect } from 'chai';
import fc from 'fast-check';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools } from '../../support/mcp/mcp-call.js';

const SCOPES = ['a.read', 'a.write', 'console.admin'];
const METHODS = ['GET', 'POST', 'DELETE'] as const;

/** A public route has to name a capability, so that none is rejected. */
const route = fc
  .record({
    method: fc.constantFrom(...METHODS),
    capability: fc.constantFrom('a.read', 'a.write', undefined),
    isPublic: fc.boolean(),
  })
  .map(({ isPublic, ...other }) => {
    return { ...other, isPublic: isPublic && other.capability !== undefined };
  });

const world = fc.record({
  routes: fc.array(route, { minLength: 1, maxLength: 4 }),
  entity: fc.constantFrom(...SCOPES.slice(0, 2)),
  action: fc.constantFrom(...SCOPES.slice(0, 2)),
  expose: fc.constantFrom('read', 'all'),
  callers: fc.subarray(['service', 'system', 'user'], { minLength: 1 }),
  isPublic: fc.boolean(),
});

const actor = fc
  .tuple(fc.constantFrom('service', 'system', 'user'), fc.subarray(SCOPES))
  .map(([kind, scopes]) =>
    kind === 'system' || scopes.length === 0 ? `dev-${kind}:x` : `dev-${kind}:x:${scopes.join()}`,
  );

type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

function describeWorld(name: string, url: string, world: World): object {
  const routes = world.routes.map(({ method, capability, isPublic }, index) => ({
    method,
    path: `/r${index}`,
    ...(capability !== undefined && { capability }),
    ...(isPublic && { access: 'public' }),
  }));
  const module = describeModule(name, url, routes, {
    mcp: { expose: world.expose, approve: 'never' },
    callers: world.callers,
    public: world.isPublic,
  }) as { manifest: { inline: object } };
  Object.assign(module.manifest.inline, {
    capabilities: ['a.read', 'a.write'],
    admin: {
      entities: [{ name: 'e', read_capability: world.entity, list_path: '/e' }],
      actions: [{ name: 'act', capability: world.action, invoke_path: '/act' }],
    },
  });
  return module;
}

/** The tools of all exposed operations, before the rights of a caller are checked. */
function listExposed(module: string, { routes, expose }: World): string[] {
  const ofRoutes = routes.flatMap(({ method }, index) =>
    expose === 'all' || method === 'GET' ? [`${method.toLowerCase()}_r${index}`] : [],
  );
  const names = [...ofRoutes, 'list_e', ...(expose === 'all' ? ['act'] : [])];
  return names.map((name) => `${module}_${name}`);
}

const WORLDS = fc.sample(world, 12);

describe('tools/list', () => {
  const setup = useHost(
    ({ url }) =>
      Object.fromEntries(
        WORLDS.map((world, index) => [`m${index}.json`, describeWorld(`m${index}`, url, world)]),
      ),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  const listNames = async (as: string, module: string) =>
    (await listTools(setup.host, { as, module })).map(({ name }) => name);

  const isRefused = async (name: string, as: string) => {
    setup.provider.answer({ body: '{"records":[]}' });
    const args = /post|act/.test(name) ? '{"body":{}}' : '{}';
    const { content, isError } = await callTool(setup.host, name, args, { as });
    return isError === true && content[0]?.text.includes('"code":"forbidden"') === true;
  };

  it('is the set of tools whose call is not denied', async () => {
    for (const [index, world] of WORLDS.entries()) {
      const module = `m${index}`;
      for (const as of fc.sample(actor, 3)) {
        const callable: string[] = [];
        for (const name of listExposed(module, world)) {
          if (!(await isRefused(name, as))) callable.push(name);
        }
        const situation = `${as} ${JSON.stringify(world)}`;
        expect(await listNames(as, module), situation).to.deep.equal(callable);
      }
    }
  });
});
