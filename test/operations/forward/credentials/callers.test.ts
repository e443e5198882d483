import { expect } from 'chai';
import { call, parseJson } from '../../../support/http/call.js';
import { expectProblem, type Problem } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const ACTORS = {
  service: 'dev-service:a:crm.read',
  system: 'dev-system:a',
  user: 'dev-user:a:crm.read',
  admin: 'dev-user:a:crm.read,console.admin',
} as const;

type ActorName = keyof typeof ACTORS;

/** The `callers` of each module, and the actors that may call it. */
const MODULES: Readonly<
  Record<string, { readonly callers?: readonly string[]; readonly open: readonly ActorName[] }>
> = {
  usual: { open: ['service', 'system', 'admin'] },
  all: {
    callers: ['service', 'system', 'user'],
    open: ['service', 'system', 'user', 'admin'],
  },
  users: { callers: ['user'], open: ['user', 'admin'] },
  services: { callers: ['service'], open: ['service', 'admin'] },
  systems: { callers: ['system'], open: ['system', 'admin'] },
};

describe('callers of a module', () => {
  const setup = useHost((provider) =>
    Object.fromEntries(
      Object.entries(MODULES).map(([name, { callers }]) => [
        `${name}.json`,
        describeModule(name, provider.url, ROUTES, callers === undefined ? {} : { callers }),
      ]),
    ),
  );

  const ask = (module: string, actor: ActorName, path = '/items', as: string = ACTORS[actor]) =>
    call(setup.host, { target: `/modules/${module}/http${path}`, as });

  for (const [module, { open }] of Object.entries(MODULES)) {
    for (const actor of Object.keys(ACTORS) as ActorName[]) {
      it(`are ${open.includes(actor) ? 'served' : 'denied'}: ${actor} by '${module}'`, async () => {
        const response = await ask(module, actor);
        if (open.includes(actor)) expect(response.status).to.equal(200);
        else expectProblem(response, 403);
        expect(setup.provider.requests).to.have.length(open.includes(actor) ? 1 : 0);
      });
    }
  }

  const withoutIds = ({ request_id: _, correlation_id: __, ...rest }: Problem) => rest;

  it('are denied in the same words whether the module is there or not', async () => {
    const closed = expectProblem(await ask('usual', 'user'), 403);
    const absent = expectProblem(await ask('absent', 'user'), 403);
    expect(withoutIds(closed)).to.deep.equal(withoutIds(absent));
    expect(closed.detail).to.equal('the module is not open to this kind of caller');
    expect(closed.errors).to.deep.equal([{ field: 'caller', reason: 'user' }]);
    expect(JSON.stringify(closed)).not.to.include('console.admin');
  });

  it('are checked before the route and the capability, and a bad path counts for its module', async () => {
    expectProblem(await ask('services', 'system', '/nowhere'), 403);
    expectProblem(await ask('services', 'system', '/items//'), 403);
    expectProblem(await ask('all', 'user', '/nowhere'), 404);
    expectProblem(await ask('all', 'user', '/items//'), 404);
    const denied = expectProblem(await ask('all', 'user', '/items', 'dev-user:a'), 403);
    expect(denied.errors).to.deep.equal([{ field: 'scope', reason: 'crm.read' }]);
  });

  it('have a log line with the reason callers', async () => {
    await ask('users', 'service');
    const find = () =>
      setup.host.logs().find((line) => line['module'] === 'users' && line['status'] === 403);
    await waitUntil('the log line', () => find() !== undefined);
    expect(find()).to.include({ reason: 'callers', actor: 'service:a' });
    expect(setup.host.logs().filter(({ status }) => status === 200)).not.to.be.empty;
    for (const line of setup.host.logs()) {
      if (line['status'] === 200) expect(line).not.to.have.property('reason');
    }
  });

  const explain = async (module: string, as: string) => {
    const target = encodeURIComponent(`/modules/${module}/http/items`);
    const response = await call(setup.host, {
      target: `/explain?method=GET&target=${target}`,
      headers: [['modgate-explain-as', as]],
    });
    expect(response.status).to.equal(200);
    const explained = parseJson(response) as {
      readonly verdict: { readonly status: number };
      readonly checks: readonly { readonly check: string }[];
    };
    return { ...explained, callers: explained.checks.find(({ check }) => check === 'callers') };
  };

  it('are a step of an explanation, which names the option', async () => {
    const denied = await explain('users', ACTORS.service);
    expect(denied.verdict.status).to.equal(403);
    expect(denied.callers).to.deep.equal({
      check: 'callers',
      outcome: 'fail',
      status: 403,
      detail: "module 'users' is open to user, not to a service",
      next_actions: ['add service to callers in users.json'],
    });
    const served = await explain('users', ACTORS.user);
    expect(served.verdict.status).to.equal(200);
    expect(served.callers).to.include({ outcome: 'pass' });
    const absent = await explain('absent', ACTORS.user);
    expect(absent.verdict.status).to.equal(403);
    expect(absent.callers).to.include({ outcome: 'fail' });
  });

  it('are counted by module and kind if they are rejected', async () => {
    await ask('users', 'service');
    await ask('absent', 'user');
    const { body } = await call(setup.host, { target: '/metrics' });
    const lines = body.toString().split('\n');
    const series = lines.filter((line) => line.startsWith('modgate_callers_rejected_total{'));
    const names = series.map((line) => line.slice(line.indexOf('{'), line.lastIndexOf(' ')));
    expect(names).to.include('{module="users",kind="service"}');
    expect(names).to.include('{module="",kind="user"}');
  });

  it('do not matter for the console bridge', async () => {
    const body = {
      moduleReleaseDigest: `sha256:${'0'.repeat(64)}`,
      uiArtifactDigest: `sha256:${'0'.repeat(64)}`,
      permission: 'crm.read',
      payload: { operation: 'modules_metadata' },
    };
    const response = await call(setup.host, {
      method: 'POST',
      target: '/modules/users/http/console-bridge/crm.read',
      as: ACTORS.service,
      headers: [['content-type', 'application/json']],
      body: Buffer.from(JSON.stringify(body)),
    });
    const problem = expectProblem(response, 403);
    expect(problem.detail).to.equal('no grant for this release, UI artifact and permission');
  });
});
