import { spawnSync } from 'node:child_process';
import { Agent, get as httpGet, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape, seriesOf } from '../../support/observability/exposition.js';
import { startHost } from '../../support/start-host.js';

const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
];
const MORE = { retry: { attempts: 0 }, breaker: { failures: 3, open_ms: 60_000 } };

const INVENTED = 1000;
const CONNECTIONS = 8;

/** Sends calls in sequence over each of a few connections. */
async function sendRandom(port: number, count: number, targetOf: (number: number) => string) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const headers = { authorization: 'Bearer dev-system:root' };
  let next = 0;
  const sendOn = async () => {
    while (next < count) {
      const path = targetOf(next++);
      await new Promise<void>((resolve, reject) => {
        const received = (response: IncomingMessage) => response.resume().once('end', resolve);
        httpGet({ agent, port, path, headers }, received).once('error', reject);
      });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendOn));
  agent.destroy();
}

describe('metrics', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES, MORE),
    'down.json': describeModule('down', 'http://127.0.0.1:1', ROUTES, MORE),
    'bad.yaml': 'module: bad\nprovider: {}\n',
    'nameless.yaml': '[]\n',
  }));
  const get = (target: string, overrides = {}) => call(setup.host, { target, ...overrides });
  const read = () => scrape(setup.host);
  /** Sends a request. The test closes the connection. */
  const hangOn = async (target: string) => {
    const connection = await RawConnection.open(setup.host.port);
    connection.write(
      `GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${setup.host.port}\r\n` +
        'authorization: Bearer dev-system:root\r\n\r\n',
    );
    return connection;
  };

  it('counts every forwarded request before its response has arrived', async () => {
    const requests: readonly (readonly [string, object, Record<string, string>])[] = [
      ['/modules/shop/http/items/1', {}, { route: '/items/{id}', method: 'GET', status: '200' }],
      ['/modules/shop/http/items/1', { method: 'HEAD' }, { method: 'HEAD', status: '200' }],
      ['/modules/shop/http/nope', {}, { route: '', method: 'GET', status: '404' }],
      ['/modules/shop/http/items/2', { method: 'PUT' }, { route: '', status: '404' }],
      ['/modules/shop/http/items/2', { method: 'OPTIONS' }, { route: '', method: 'OPTIONS' }],
      ['/modules/shop/http/items/2', { method: 'PROPFIND' }, { route: '', method: 'other' }],
      ['/modules/shop/http/items/2', { method: 'M-SEARCH' }, { route: '', method: 'other' }],
      [
        '/modules/shop/http/items/3',
        { as: 'dev-service:a' },
        { route: '/items/{id}', status: '403' },
      ],
      [
        '/modules/shop/http/items',
        { method: 'POST', headers: [JSON_TYPE], body: Buffer.from('{') },
        { route: '/items', method: 'POST', status: '400' },
      ],
      ['/modules/down/http/items/1', {}, { module: 'down', route: '/items/{id}', status: '502' }],
    ];
    for (const [target, overrides, labels] of requests) {
      const expected = { module: 'shop', ...labels };
      const before = (await read()).sum('modgate_requests_total', expected);
      await get(target, overrides);
      expect((await read()).sum('modgate_requests_total', expected), target).to.equal(before + 1);
    }
  });

  it('counts unauthenticated requests and unknown modules without a module', async () => {
    const of = async (status: string) =>
      (await read()).sum('modgate_requests_total', { module: '', route: '', status });
    const before = [await of('401'), await of('404'), await of('403')];
    await get('/modules/shop/http/items/1', { as: null });
    await get('/modules/who-knows/http/items/1');
    await get('/modules/A%20B/http//');
    await get('/modules/shop/http/items/1', { as: 'dev-user:u' });
    const after = [await of('401'), await of('404'), await of('403')];
    const grown = after.map((value, index) => value - (before[index] ?? 0));
    expect(grown).to.deep.equal([1, 2, 1]);
    expect((await read()).text).to.not.include('who-knows');
  });

  it('does not count other requests', async () => {
    const before = (await read()).sum('modgate_requests_total');
    for (const target of ['/livez', '/modules', '/nope', '/metrics']) await get(target);
    expect((await read()).sum('modgate_requests_total')).to.equal(before);
  });

  it('counts a closed connection as 499 and cancelled', async () => {
    setup.provider.answer({ raw: [], finally: 'hang' });
    const connection = await hangOn('/modules/shop/http/items/9');
    await waitUntil('the call at the provider', () => setup.provider.requests.length === 1);
    expect((await read()).sum('modgate_in_flight', { module: 'shop' })).to.equal(1);
    connection.destroy();
    const labels = { module: 'shop', route: '/items/{id}', status: '499' };
    await waitUntil(
      'the count',
      async () => (await read()).sum('modgate_requests_total', labels) === 1,
    );
    const metrics = await read();
    expect(metrics.sum('modgate_failures_total', { failure: 'cancelled' })).to.equal(1);
    expect(metrics.sum('modgate_in_flight')).to.equal(0);
  });

  it('separates the time of the host from that of the provider', async () => {
    const of = async () => {
      const metrics = await read();
      const labels = { module: 'shop', route: '/items/{id}' };
      return {
        host: metrics.sum('modgate_host_duration_seconds_sum', labels),
        provider: metrics.sum('modgate_provider_duration_seconds_sum', labels),
        count: metrics.sum('modgate_provider_duration_seconds_count', labels),
      };
    };
    const before = await of();
    setup.provider.answer({ delayMs: 1000 });
    await get('/modules/shop/http/items/1');
    const after = await of();
    expect(after.provider - before.provider).to.be.at.least(0.99);
    expect(after.host - before.host).to.be.below(0.99);
    expect(after.count - before.count).to.equal(1);
  });

  it('exposes cumulative buckets', async () => {
    await get('/modules/shop/http/items/1');
    const metrics = await read();
    const labels = { module: 'shop', route: '/items/{id}' };
    for (const name of ['modgate_host_duration_seconds', 'modgate_provider_duration_seconds']) {
      const counts = metrics.find(`${name}_bucket`, labels).map(({ value }) => value);
      expect(counts).to.deep.equal(counts.toSorted((a, b) => a - b));
      expect(counts.at(-1)).to.equal(metrics.sum(`${name}_count`, labels));
      expect(metrics.find(`${name}_bucket`, { ...labels, le: '+Inf' })).to.have.length(1);
    }
  });

  it('counts failures by kind and shows the open circuit breaker', async () => {
    for (let count = 0; count < 4; count += 1) await get('/modules/down/http/items/1');
    setup.provider.answer({ status: 500 });
    await get('/modules/shop/http/items/1');
    const metrics = await read();
    const down = { module: 'down', endpoint: 'http://127.0.0.1:1' };
    expect(
      metrics.sum('modgate_failures_total', { module: 'down', failure: 'unavailable' }),
    ).to.be.at.least(4);
    expect(metrics.sum('modgate_failures_total', { module: 'shop', failure: 'status' })).to.equal(
      1,
    );
    expect(metrics.sum('modgate_breaker_state', { ...down, state: 'open' })).to.equal(1);
    expect(metrics.sum('modgate_breaker_state', { ...down, state: 'closed' })).to.equal(0);
    expect(metrics.sum('modgate_breaker_state', { module: 'shop', state: 'closed' })).to.equal(1);
    expect(metrics.sum('modgate_endpoint_up', down)).to.equal(0);
    expect(metrics.sum('modgate_endpoint_up', { module: 'shop' })).to.equal(1);
  });

  it('shows the breaker of a route while it is not closed', async () => {
    const breaker = { failures: 3, open_ms: 200, max_open_ms: 200 };
    const { url } = setup.provider;
    setup.host.drop('flaky.json', describeModule('flaky', url, ROUTES, { breaker }));
    const target = '/modules/flaky/http/items/1';
    const find = async (labels: Record<string, string>) =>
      (await read()).find('modgate_breaker_state', { module: 'flaky', ...labels });
    const route = 'GET /items/{id}';
    await waitUntil('the module', async () => (await get(target)).status === 200);
    expect(await find({ route: '' })).to.have.length(3);
    expect(await find({ route })).to.have.length(0);
    setup.provider.answer({ status: 500 });
    for (let count = 0; count < 4; count += 1) await get(target);
    expect(await find({ route })).to.have.length(3);
    expect((await read()).sum('modgate_breaker_state', { module: 'flaky', route: '' })).to.equal(1);
    expect((await read()).sum('modgate_breaker_state', { route, state: 'closed' })).to.equal(0);
    setup.provider.answer({});
    await waitUntil('a good response', async () => (await get(target)).status === 200);
    expect(await find({ route })).to.have.length(0);
    expect(await find({ route: '', state: 'closed' })).to.have.length(1);
    setup.host.remove('flaky.json');
  });

  it('has a label for each failure', async () => {
    const of = async (failure: string) =>
      (await read()).sum('modgate_failures_total', { module: 'tight', failure });
    const endpoint = setup.provider.url;
    const limits = { timeout_ms: 2000, concurrency: 1, queue: 1, queue_ms: 5000 };
    const overrides = { limits, retry: { attempts: 0 }, breaker: { failures: 1000 } };
    setup.host.drop('tight.json', describeModule('tight', endpoint, ROUTES, overrides));
    const target = '/modules/tight/http/items/1';
    await waitUntil('the module', async () => (await get(target)).status === 200);
    setup.provider.answer({ body: 'none' });
    await get(target);
    expect(await of('protocol')).to.equal(1);
    setup.provider.answer({ status: 418 });
    await get(target);
    expect(await of('status')).to.equal(1);
    setup.provider.answer({ raw: [], finally: 'reset' });
    await get(target);
    expect(await of('unavailable')).to.equal(1);
    setup.provider.answer({ raw: [], finally: 'hang' });
    await get(target);
    expect(await of('timeout')).to.equal(1);
    expect(await of('overloaded')).to.equal(0);
  });

  it('shows calls in flight, queued and rejected', async () => {
    const limits = { timeout_ms: 20_000, concurrency: 1, queue: 1, queue_ms: 20_000 };
    const { url } = setup.provider;
    setup.host.drop('narrow.json', describeModule('narrow', url, ROUTES, { limits }));
    const target = '/modules/narrow/http/items/1';
    await waitUntil('the module', async () => (await get(target)).status === 200);
    const of = async (name: string, labels = {}) =>
      (await read()).sum(name, { module: 'narrow', ...labels });
    setup.provider.answer({ raw: [], finally: 'hang' });
    const waiting = await Promise.all([hangOn(target), hangOn(target)]);
    await waitUntil('the queue', async () => (await of('modgate_queued')) === 1);
    expect(await of('modgate_in_flight')).to.equal(1);
    expect((await get(target)).status).to.equal(502);
    expect(await of('modgate_failures_total', { failure: 'overloaded' })).to.equal(1);
    for (const connection of waiting) connection.destroy();
    await waitUntil('the callers to go', async () => (await of('modgate_in_flight')) === 0);
    setup.host.remove('narrow.json');
    await waitUntil('the series to go', async () => !(await read()).text.includes('narrow'));
  }).timeout(60_000);

  it('shows the state of every descriptor, and the event loop', async () => {
    const metrics = await read();
    const state = (module: string, name: string) =>
      metrics.sum('modgate_module_state', { module, state: name });
    expect([state('shop', 'live'), state('shop', 'refused')]).to.deep.equal([1, 0]);
    expect([state('bad', 'refused'), state('', 'refused')]).to.deep.equal([1, 1]);
    const quantiles = metrics.find('modgate_event_loop_delay_seconds');
    expect(quantiles.map(({ labels }) => labels['percentile'])).to.deep.equal([
      '0.5',
      '0.9',
      '0.99',
      '1',
    ]);
    for (const { value } of quantiles) expect(value).to.be.within(0, 10);
  });

  it('passes promtool check metrics', async function () {
    const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: (await read()).text,
      encoding: 'utf8',
    });
    if (error !== undefined) {
      if (process.env['CI'] === 'true') throw new Error('needs promtool');
      process.stderr.write('    skipped: no promtool (Debian package prometheus)\n');
      this.skip();
    }
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '', stderr: '' });
  });

  it("includes prom-client's defaults and their content type", async () => {
    const response = await fetch(`${setup.host.url}/metrics`);
    expect(response.headers.get('content-type')).to.equal(
      'text/plain; version=0.0.4; charset=utf-8',
    );
    const { names } = await read();
    expect(names).to.include('process_cpu_seconds_total');
    expect(names).to.include('nodejs_heap_size_used_bytes');
  });

  it('counts reloads and removes the labels of removed modules and routes', async () => {
    const before = await read();
    expect(before.sum('modgate_reload_total', { result: 'failure' })).to.equal(2);
    const firstRoute = { method: 'GET', path: '/items/{id}', capability: 'shop.read' };
    const two = { method: 'GET', path: '/items', capability: 'shop.read' };
    const drop = (routes: readonly (typeof firstRoute)[]) =>
      setup.host.drop('extra.json', describeModule('extra', setup.provider.url, routes));
    drop([firstRoute, two]);
    await waitUntil('the module', async () => {
      return (await get('/modules/extra/http/items')).status === 200;
    });
    await get('/modules/extra/http/items/1');
    const served = await read();
    const success = { result: 'success' };
    expect(served.sum('modgate_reload_total', success)).to.equal(
      before.sum('modgate_reload_total', success) + 1,
    );
    const reloadedAt = served.sum('modgate_last_reload_timestamp_seconds');
    expect(reloadedAt).to.be.within(Date.now() / 1000 - 30, Date.now() / 1000);
    expect(
      served.find('modgate_requests_total', { module: 'extra', route: '/items' }),
    ).to.have.length.above(0);
    drop([firstRoute]);
    await waitUntil('the route to go', async () => {
      const { length } = (await read()).find('modgate_requests_total', {
        route: '/items',
        module: 'extra',
      });
      return length === 0;
    });
    const labels = { module: 'extra', route: '/items/{id}' };
    expect((await read()).sum('modgate_requests_total', labels)).to.equal(1);
    setup.host.remove('extra.json');
    await waitUntil('the labels to go', async () => !(await read()).text.includes('extra'));
  });

  it('creates no series for paths, names and queries of clients', async () => {
    const routes = [{ method: 'GET', path: '/a/{rest...}', capability: 'shop.read' }];
    setup.host.drop('wide.json', describeModule('wide', setup.provider.url, routes));
    await waitUntil('the module', async () => (await get('/modules/wide/http/a/b')).status === 200);
    const countedTargets = [
      '/modules/shop/http/items/1',
      '/modules/shop/http/none',
      '/modules/wide/http/none',
      '/modules/none/http/x',
    ];
    for (const target of countedTargets) await get(target);
    const isOwn = ({ name }: { readonly name: string }) => name.startsWith('modgate_');
    const series = async () => (await read()).samples.filter(isOwn).map(seriesOf).toSorted();
    const sum = async () => (await read()).sum('modgate_requests_total');
    const [before, countBefore] = [await series(), await sum()];
    await sendRandom(setup.host.port, INVENTED, (number) => {
      const random = `${number.toString(36)}${Math.random().toString(36).slice(2)}`;
      const targets = [
        `/modules/shop/http/items/${random}`,
        `/modules/wide/http/a/${random}/${number}?q=${random}`,
        `/modules/shop/http/${random}`,
        `/modules/x${random}/http/items/1`,
      ];
      return targets[number % targets.length] ?? '/';
    });
    expect((await sum()) - countBefore).to.equal(INVENTED);
    expect(await series()).to.deep.equal(before);
  }).timeout(120_000);

  it('counts retries', async () => {
    setup.host.drop('twice.json', describeModule('twice', 'http://127.0.0.1:1', ROUTES));
    await waitUntil('the module', async () => {
      return (await get('/modules/twice/http/items/1')).status === 502;
    });
    expect((await read()).sum('modgate_retries_total', { module: 'twice' })).to.equal(2);
  });
});

describe('GET /metrics', () => {
  it('requires the scope modgate.metrics.read unless the host listens on loopback only', async () => {
    const host = await startHost({
      args: ['--host', '0.0.0.0', '--allow-dev-auth-anywhere'],
    });
    try {
      const url = host.url.replace('0.0.0.0', '127.0.0.1');
      const ask = (as: string | null) => call(host, { target: '/metrics', as });
      expectProblem(await ask(null), 401, 'unauthorized');
      const rejected = expectProblem(
        await ask('dev-service:a:modgate.calls.read'),
        403,
        'forbidden',
      );
      expect(rejected.errors).to.deep.equal([{ field: 'scope', reason: 'modgate.metrics.read' }]);
      expect((await ask('dev-system:root')).status).to.equal(200);
      const authorization = 'Bearer dev-service:a:modgate.metrics.read';
      expect((await scrape({ url }, { authorization })).names).to.include('modgate_requests_total');
    } finally {
      await host.stop();
    }
  });
});
