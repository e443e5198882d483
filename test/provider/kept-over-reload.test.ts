import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { call } from '../support/http/call.js';
import { reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { callItems, describeItems, readModule } from '../support/provider/routes.js';
import { startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { useEach } from '../support/use.js';

const FAR_MS = 3_600_000;
/** Opens after two failures, for longer than the test. */
const BREAKER = { failures: 2, window_ms: FAR_MS, open_ms: FAR_MS, max_open_ms: FAR_MS };
/** Two failed checks in a row: later ones are too rare to count. */
const HEALTH = { path: '/health', interval_ms: 60_000, failures: 1 };

/** A change of each kind that does not concern the calls of the provider. */
const UNRELATED: Readonly<Record<string, object>> = {
  owner: { owner: { name: 'another team' } },
  rate: { rate: { per_second: 1000, burst: 1000 } },
  probation: { probation: { seconds: 3600, max_error_rate: 0.05, min_calls: 10 } },
  'retry.attempts': { retry: { attempts: 3 } },
};

describe('what a version has learned', () => {
  let status = 200;
  let isIll = true;

  const good = useEach(() => {
    status = 200;
    isIll = true;
    return startProvider((request, response) => {
      const answered = request.url === '/health' ? 200 : status;
      response.writeHead(answered, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const bad = useEach(() =>
    startProvider((request, response) => {
      const isFailed = isIll || request.url === '/items';
      response.writeHead(isFailed ? 503 : 200, { 'content-type': 'application/json' }).end('{}');
    }),
  );
  const host = useEach(
    () => startHost(),
    (running) => running.kill(),
  );

  const readDigest = async () => {
    const list = await call(host, { target: '/modules' });
    const { modules } = JSON.parse(list.body.toString()) as {
      modules: { name: string; config_digest: string | null }[];
    };
    return modules.find(({ name }) => name === 'm')?.config_digest ?? null;
  };
  const drop = async (config: object, overrides: object = {}) => {
    const before = await readDigest();
    host.drop('m.json', describeItems('m', config, { breaker: BREAKER, ...overrides }));
    await waitUntil('another version', async () => {
      const digest = await readDigest();
      return digest !== null && digest !== before;
    });
  };
  const endpointsOf = async () => (await readModule(host, 'm')).endpoints;
  const statesOf = async () => (await endpointsOf()).map(({ state }) => state);
  const post = () => callItems(host, 'm', { method: 'POST' });

  for (const [change, overrides] of Object.entries(UNRELATED)) {
    it(`keeps a replica down over a change of ${change}`, async () => {
      const config = { endpoints: [good.url, bad.url], health: HEALTH };
      await drop(config);
      await waitUntil('down', async () => `${await statesOf()}` === 'up,down');
      await drop(config, overrides);
      for (let calls = 0; calls < 20; calls += 1) expect((await post()).status).to.equal(200);
      expect(bad.requests.filter(({ target }) => target === '/items')).to.have.length(0);
    });

    it(`keeps the breaker of a route open over a change of ${change}`, async () => {
      const config = { endpoints: [good.url] };
      await drop(config);
      status = 500;
      for (let calls = 0; calls < BREAKER.failures; calls += 1) await post();
      const [before] = await endpointsOf();
      expect(before?.routes[0]).to.include({ route: 'POST /items', state: 'open' });
      status = 200;
      await drop(config, overrides);
      expect(await endpointsOf()).to.deep.equal([before]);
      expect(reasonOf(JSON.parse((await post()).body.toString()), 'breaker')).to.equal('open');
      expect((await callItems(host, 'm')).status).to.equal(200);
    });
  }

  it('keeps the breaker of an endpoint open when another endpoint is added', async () => {
    await bad.stop();
    await drop({ endpoints: [bad.url] });
    for (let calls = 0; calls < BREAKER.failures; calls += 1) await post();
    expect(await statesOf()).to.deep.equal(['open']);
    await drop({ endpoints: [bad.url, good.url] });
    expect(await statesOf()).to.deep.equal(['open', 'up']);
  });

  it('lets an open breaker try at once after a change of how the endpoint is called', async () => {
    await drop({ endpoints: [good.url] });
    status = 500;
    for (let calls = 0; calls < BREAKER.failures; calls += 1) await post();
    host.drop('keys/key', 'secret');
    const header = { name: 'x-key', value: 'file:keys/key' };
    await drop({ endpoints: [good.url], auth: { header } });
    const [endpoint] = await endpointsOf();
    expect(endpoint?.routes[0]).to.include({ route: 'POST /items', state: 'half_open' });
    // The first call is the only one: it fails, and opens the breaker again.
    expect((await post()).status).to.equal(502);
    expect(reasonOf(JSON.parse((await post()).body.toString()), 'breaker')).to.equal('open');
    status = 200;
    await drop({ endpoints: [good.url] }, { limits: { timeout_ms: 9000 } });
    expect((await post()).status).to.equal(200);
    expect((await post()).status).to.equal(200);
  });

  it('forgets the breakers after a change of their settings, and keeps a replica down', async () => {
    const config = { endpoints: [good.url, bad.url], health: HEALTH };
    await drop(config);
    await waitUntil('down', async () => `${await statesOf()}` === 'up,down');
    status = 500;
    for (let calls = 0; calls < BREAKER.failures; calls += 1) await post();
    await drop(config, { breaker: { ...BREAKER, failures: 7 } });
    expect(await statesOf()).to.deep.equal(['up', 'down']);
    expect((await endpointsOf())[0]?.routes).to.deep.equal([]);
  });

  it('brings a replica that was down up with the next passed check', async () => {
    const config = { endpoints: [bad.url], health: { ...HEALTH, interval_ms: 100 } };
    await drop(config);
    await waitUntil('down', async () => `${await statesOf()}` === 'down');
    await drop(config, { owner: { name: 'another team' } });
    expect(await statesOf()).to.deep.equal(['down']);
    isIll = false;
    await waitUntil('up', async () => `${await statesOf()}` === 'up');
  });

  it('forgets the breaker of a route that is gone', async () => {
    const descriptor = (routes: readonly string[]) => ({
      module: 'm',
      breaker: BREAKER,
      provider: { kind: 'http', config: { endpoints: [bad.url] } },
      manifest: {
        inline: {
          protocol: 'modgate.manifest.v1',
          module_id: 'm',
          capabilities: ['items.use'],
          http_routes: routes.map((path) => ({ method: 'GET', path, capability: 'items.use' })),
        },
      },
    });
    host.drop('m.json', descriptor(['/items', '/other']));
    await waitUntil('live', async () => (await readDigest()) !== null);
    for (let calls = 0; calls < BREAKER.failures; calls += 1) await callItems(host, 'm');
    expect((await endpointsOf())[0]?.routes).to.have.length(1);
    const before = await readDigest();
    host.drop('m.json', descriptor(['/other']));
    await waitUntil('another version', async () => (await readDigest()) !== before);
    expect((await endpointsOf())[0]?.routes).to.deep.equal([]);
  });

  it('keeps a used-up retry budget', async () => {
    await bad.stop();
    const retry = { attempts: 5, budget: 0 };
    const breaker = { failures: 1000 };
    const config = { endpoints: [bad.url] };
    await drop(config, { retry, breaker });
    // Ten retries, then none.
    for (let calls = 0; calls < 4; calls += 1) await callItems(host, 'm');
    const [before] = await endpointsOf();
    expect(before?.calls).to.equal(14);
    await drop(config, { retry, breaker, owner: { name: 'another team' } });
    await callItems(host, 'm');
    expect((await endpointsOf())[0]?.calls).to.equal(15);
  });

  it('keeps responses over a change that does not concern them, and no others', async () => {
    const describeCached = (ttlMs: number, overrides: object = {}) => ({
      module: 'm',
      provider: { kind: 'http', config: { endpoints: [good.url] } },
      manifest: {
        inline: {
          protocol: 'modgate.manifest.v1',
          module_id: 'm',
          capabilities: ['items.use'],
          http_routes: [
            {
              method: 'GET',
              path: '/items',
              capability: 'items.use',
              operation: { cache: { ttl_ms: ttlMs } },
            },
          ],
        },
      },
      ...overrides,
    });
    const change = async (descriptor: object) => {
      const before = await readDigest();
      host.drop('m.json', descriptor);
      await waitUntil('another version', async () => {
        const digest = await readDigest();
        return digest !== null && digest !== before;
      });
    };
    const read = async () =>
      headerValue((await callItems(host, 'm')).headers, 'cache-status')
        ?.split(';')[1]
        ?.trim();
    await change(describeCached(FAR_MS));
    expect([await read(), await read()]).to.deep.equal(['fwd=miss', 'hit']);
    await change(describeCached(FAR_MS, { owner: { name: 'another team' } }));
    expect(await read()).to.equal('hit');
    await change(describeCached(FAR_MS, { limits: { concurrency: 9 } }));
    expect(await read()).to.equal('hit');
    await change(describeCached(FAR_MS - 1));
    expect([await read(), await read()]).to.deep.equal(['fwd=miss', 'hit']);
    const provider = { kind: 'http', config: { endpoints: [bad.url, good.url] } };
    await change(describeCached(FAR_MS - 1, { provider, retry: { attempts: 0 } }));
    expect(await read()).to.equal('fwd=miss');
  });
});
