import { expect } from 'chai';
import { waitUntil } from '../support/http/wait-until.js';
import { callItems, describeItems, readModule } from '../support/provider/routes.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { use } from '../support/use.js';

const HEALTH = { path: '/health', interval_ms: 100, failures: 2, successes: 1 };
const TENANTS = Array.from({ length: 60 }, (_, index) => `tenant-${index}`);

describe('replicas of a provider', () => {
  const providers: ScriptedProvider[] = [];
  /** Replicas whose health check fails. */
  const ill = new Set<number>();

  const host = use(async () => {
    for (const id of [0, 1, 2]) {
      providers.push(
        await startProvider((request, response) => {
          const isIll = request.url === '/health' && ill.has(id);
          response.writeHead(isIll ? 503 : 200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ replica: id }));
        }),
      );
    }
    const [a = '', b = '', c = ''] = providers.map(({ url }) => url);
    const endpoints = [a, b, c];
    return startHost({
      files: {
        'turns.json': describeItems('turns', {
          endpoints: [{ url: a, weight: 3 }, b, { url: c, weight: 2 }],
        }),
        'least.json': describeItems('least', { endpoints, strategy: 'least_in_flight' }),
        'hash.json': describeItems('hash', {
          endpoints,
          strategy: 'consistent_hash',
          hash_header: 'X-Tenant',
        }),
        'checked.json': describeItems('checked', { endpoints, health: HEALTH }),
        'checked-hash.json': describeItems('checked-hash', {
          endpoints,
          health: HEALTH,
          strategy: 'consistent_hash',
          hash_header: 'x-tenant',
        }),
      },
    });
  });

  after(async () => {
    for (const provider of providers) await provider.stop();
  });

  afterEach(() => ill.clear());

  const replicaOf = async (module: string, tenant?: string): Promise<number> => {
    const headers = tenant === undefined ? [] : [['x-tenant', tenant] as const];
    const response = await callItems(host, module, { headers });
    expect(response.status, response.body.toString()).to.equal(200);
    const { data } = JSON.parse(response.body.toString()) as { data: { replica: number } };
    return data.replica;
  };
  const replicasOf = async (module: string, calls: number) => {
    const chosen: number[] = [];
    for (let call = 0; call < calls; call += 1) chosen.push(await replicaOf(module));
    return chosen;
  };
  const placeTenants = async (module: string) => {
    const places = new Map<string, number>();
    for (const tenant of TENANTS) places.set(tenant, await replicaOf(module, tenant));
    return places;
  };
  const statesOf = async (module: string) =>
    (await readModule(host, module)).endpoints.map(({ state }) => state);
  const waitForStates = (module: string, ...states: string[]) =>
    waitUntil(`${module} is ${states}`, async () => `${await statesOf(module)}` === `${states}`);

  it('take turns by weight, by default', async () => {
    const chosen = await replicasOf('turns', 12);
    for (const [replica, share] of [6, 2, 4].entries()) {
      expect(chosen.filter((candidate) => candidate === replica)).to.have.length(share);
    }
    expect(`${chosen}`).not.to.match(/0,0,0/);
  });

  it('take turns under least_in_flight while nothing is in flight', async () => {
    expect(new Set(await replicasOf('least', 6))).to.have.property('size', 3);
  });

  it('keep a tenant each under consistent_hash, whatever the case of the header', async () => {
    const places = await placeTenants('hash');
    expect(await placeTenants('hash')).to.deep.equal(places);
    expect(new Set(places.values())).to.have.property('size', 3);
  });

  it('take turns under consistent_hash for a call without the header', async () => {
    expect(new Set(await replicasOf('hash', 3))).to.have.property('size', 3);
  });

  it('get no calls while their checks fail, and then again', async () => {
    await waitForStates('checked', 'up', 'up', 'up');
    ill.add(1);
    await waitForStates('checked', 'up', 'down', 'up');
    expect(await replicasOf('checked', 8)).not.to.include(1);
    ill.clear();
    await waitForStates('checked', 'up', 'up', 'up');
    expect(await replicasOf('checked', 3)).to.include(1);
  });

  it('keep the tenants of other replicas when one is down, and regain their own', async () => {
    await waitForStates('checked-hash', 'up', 'up', 'up');
    const before = await placeTenants('checked-hash');
    ill.add(0);
    await waitForStates('checked-hash', 'down', 'up', 'up');
    const between = await placeTenants('checked-hash');
    for (const [tenant, replica] of before) {
      if (replica === 0) expect(between.get(tenant)).not.to.equal(0);
      else expect(between.get(tenant)).to.equal(replica);
    }
    ill.clear();
    await waitForStates('checked-hash', 'up', 'up', 'up');
    expect(await placeTenants('checked-hash')).to.deep.equal(before);
  });

  it('are all tried when the checks of all fail', async () => {
    for (const replica of [0, 1, 2]) ill.add(replica);
    await waitForStates('checked', 'down', 'down', 'down');
    expect(new Set(await replicasOf('checked', 3))).to.have.property('size', 3);
  });

  it('are checked until their module closes', async () => {
    const checksOf = (path: string) =>
      providers[0]?.requests.filter(({ target }) => target === path).length ?? 0;
    host.drop(
      'brief.json',
      describeItems('brief', {
        endpoints: [providers[0]?.url],
        health: { ...HEALTH, path: '/brief' },
      }),
    );
    await waitUntil('the checks', () => checksOf('/brief') >= 2);
    host.remove('brief.json');
    await waitUntil('the end of the module', async () => {
      return (await callItems(host, 'brief')).status === 404;
    });
    await waitUntil('the end of the checks', async () => {
      const before = checksOf('/brief');
      const others = checksOf('/health');
      await waitUntil('five intervals', () => checksOf('/health') >= others + 5);
      return checksOf('/brief') === before;
    });
  });
});
