import { expect } from 'chai';
import fc from 'fast-check';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools } from '../../support/mcp/mcp-call.js';

const SCOPES = ['a.read', 'a.write', 'console.admin'];
const METHODS = ['GET', 'POST', 'DELETE'] as const;

const route = fc.record({
  method: fc.constantFrom(...METHODS),
  capability: fc.constantFrom('a.read', 'a.write', undefined),
  isPublic: fc.boolean(),
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

function describeWorld(name: string, url: string, given: World): object {
  const routes = given.routes.map(({ method, capability, isPublic }, index) => ({
    method,
    path: `/r${index}`,
    ...(capability !== undefined && { capability }),
    ...(isPublic && { access: 'public' }),
  }));
  const module = describeModule(name, url, routes, {
    mcp: { expose: given.expose, approve: 'never' },
    callers: given.callers,
    public: given.isPublic,
  }) as { manifest: { inline: object } };
  Object.assign(module.manifest.inline, {
    capabilities: ['a.read', 'a.write'],
    admin: {
      entities: [{ name: 'e', read_capability: given.entity, list_path: '/e' }],
      actions: [{ name: 'act', capability: given.action, invoke_path: '/act' }],
    },
  });
  return module;
}

const WORLDS = fc.sample(world, 12);
const NAMES = WORLDS.map((_, index) => `m${index}`);

describe('tools/list', () => {
  const setup = useHost(
    ({ url }) =>
      Object.fromEntries(
        WORLDS.map((given, index) => [`m${index}.json`, describeWorld(`m${index}`, url, given)]),
      ),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  const listNames = async (as: string, module: string) =>
    (await listTools(setup.host, { as, module })).map(({ name }) => name);

  const isRefused = async (name: string, as: string) => {
    setup.provider.answer({ body: '{"records":[]}' });
    const given = /post|act/.test(name) ? '{"body":{}}' : '{}';
    const { content, isError } = await callTool(setup.host, name, given, { as });
    return isError === true && content[0]?.text.includes('"code":"forbidden"') === true;
  };

  it('is the set of tools whose call is not refused for rights', async () => {
    for (const [index, module] of NAMES.entries()) {
      const all = await listNames('dev-user:all:a.read,a.write,console.admin', module);
      for (const one of fc.sample(actor, 3)) {
        const callable: string[] = [];
        for (const name of all) if (!(await isRefused(name, one))) callable.push(name);
        const why = `${one} ${JSON.stringify(WORLDS[index])}`;
        expect(await listNames(one, module), why).to.deep.equal(callable);
      }
    }
  });
});
