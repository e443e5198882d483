import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { callItems, describeItems, readModule } from '../support/provider/routes.js';
import { startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { useEach } from '../support/use.js';

const OPEN_MS = 300;
/** Longer than any test. */
const LONG_MS = 600_000;
const BREAKER = { failures: 3, open_ms: OPEN_MS, max_open_ms: 4 * OPEN_MS };

describe('circuit breaker of a host', () => {
  let status = 200;

  const describeLong = () => {
    const breaker = { ...BREAKER, open_ms: LONG_MS, max_open_ms: LONG_MS };
    return describeItems('long', { endpoints: [proxy.url] }, { breaker });
  };

  const provider = useEach(() => {
    status = 200;
    return startProvider((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const proxy = useEach(() => startFaultProxy(provider.port));
  const host = useEach(
    () => {
      const short = describeItems('m', { endpoints: [proxy.url] }, { breaker: BREAKER });
      return startHost({ files: { 'm.json': short, 'long.json': describeLong() } });
    },
    (running) => running.kill(),
  );

  const stateOf = async () => (await readModule(host, 'm')).endpoints[0]?.state;
  const callPost = (module = 'm') => callItems(host, module, { method: 'POST' });
  const open = async (module = 'm') => {
    await proxy.set({ kind: 'refuse' });
    for (let count = 0; count < BREAKER.failures; count += 1) await callPost(module);
  };

  it('is listed with its time', async () => {
    expect((await readModule(host, 'm')).endpoints).to.deep.equal([
      {
        endpoint: proxy.url,
        state: 'up',
        in_flight: 0,
        calls: 0,
        failures: 0,
        until: null,
        routes: [],
      },
    ]);
    const from = Date.now();
    await open('long');
    const [endpoint] = (await readModule(host, 'long')).endpoints;
    expect(endpoint).to.include({ state: 'open', calls: 3, failures: 3 });
    const until = new Date(endpoint?.until ?? '');
    expect(endpoint?.until).to.equal(until.toISOString());
    expect(until.getTime()).to.be.within(from + LONG_MS / 2, Date.now() + LONG_MS);
  });

  const areWithoutAttempt = (lines: readonly { readonly attempts?: unknown }[]) =>
    lines.every(({ attempts }) => attempts === 0);

  it('responds with 502 at once while open, without a call', async () => {
    await open('long');
    await proxy.set({ kind: 'none' });
    for (let round = 0; round < 20; round += 1) {
      const response = await callPost('long');
      const problem = expectProblem(response, 502);
      expect(reasonOf(problem, 'breaker')).to.equal('open');
      expect(reasonOf(problem, 'failure')).to.equal('unavailable');
      expect(Number(headerValue(response.headers, 'retry-after'))).to.be.within(300, 600);
    }
    await waitUntil('the log lines', () => {
      const lines = host.logs().filter((line) => line['msg'] === 'request');
      expect(lines.slice(BREAKER.failures)).to.satisfy(areWithoutAttempt);
      return lines.length === BREAKER.failures + 20;
    });
    expect(provider.requests).to.have.length(0);
  });

  it('closes with a probe once the provider is back, without a restart', async () => {
    await open();
    await proxy.set({ kind: 'none' });
    await waitUntil('a good answer', async () => (await callPost()).status === 200);
    expect(await stateOf()).to.equal('up');
    expect((await callPost()).status).to.equal(200);
  });

  it('admits one probe at a time to a provider that hangs', async () => {
    await open();
    await proxy.set({ kind: 'blackhole' });
    await waitUntil('half open', async () => (await stateOf()) === 'half_open');
    const before = proxy.accepted;
    // It hangs until its connection is cut at the end.
    const probe = callItems(host, 'm').catch(() => null);
    await waitUntil('the probe', () => proxy.accepted > before);
    for (let round = 0; round < 5; round += 1) {
      const problem = expectProblem(await callPost(), 502);
      expect(reasonOf(problem, 'breaker')).to.equal('open');
    }
    expect(proxy.accepted).to.equal(before + 1);
    await proxy.set({ kind: 'refuse' });
    await probe;
  });

  it('stays open twice as long after a failed probe', async () => {
    await open();
    await waitUntil('half open', async () => (await stateOf()) === 'half_open');
    await callItems(host, 'm', { method: 'PUT' });
    const opened = host.logs().filter(({ msg }) => msg === 'circuit breaker open');
    expect(opened.map(({ open_ms }) => open_ms)).to.deep.equal([OPEN_MS, 2 * OPEN_MS]);
  });

  it('takes a call that must not be repeated as its probe open_ms later', async () => {
    const from = performance.now();
    await open();
    await proxy.set({ kind: 'none' });
    await waitUntil('a good answer', async () => (await callPost()).status === 200);
    expect(performance.now() - from).to.be.above(2 * OPEN_MS);
    expect(provider.requests.map(({ method }) => method)).to.deep.equal(['POST']);
  });

  it('takes a health check as its probe', async () => {
    const health = { interval_ms: 100 };
    const config = { endpoints: [proxy.url], health };
    host.drop('m.json', describeItems('m', config, { breaker: BREAKER }));
    await waitUntil('it is checked', () => proxy.accepted > 1);
    await open();
    await proxy.set({ kind: 'none' });
    await waitUntil('closed', async () => (await stateOf()) === 'up');
    expect(provider.requests).to.have.length(0);
    expect((await callPost()).status).to.equal(200);
  });

  const openRoute = async (module = 'm') => {
    status = 500;
    for (let count = 0; count < BREAKER.failures; count += 1) {
      const problem = expectProblem(await callPost(module), 502);
      expect(reasonOf(problem, 'failure')).to.equal('status');
    }
    status = 200;
  };

  it('stays closed after responses below 500', async () => {
    status = 404;
    for (let count = 0; count < 10; count += 1) await callPost();
    const [endpoint] = (await readModule(host, 'm')).endpoints;
    expect(endpoint).to.deep.include({ state: 'up', failures: 0, routes: [] });
  });

  it('stays closed while responses from 500 on are below the ratio', async () => {
    for (let count = 0; count <= BREAKER.failures; count += 1) await callPost();
    await openRoute();
    expect((await readModule(host, 'm')).endpoints[0]?.routes).to.deep.equal([]);
  });

  it('opens for one route after responses from 500 on', async () => {
    const from = Date.now();
    await openRoute('long');
    const [endpoint] = (await readModule(host, 'long')).endpoints;
    expect(endpoint).to.include({ state: 'up', until: null, failures: BREAKER.failures });
    const [route, ...rest] = endpoint?.routes ?? [];
    expect(rest).to.deep.equal([]);
    expect(route).to.include({ route: 'POST /items', state: 'open' });
    const until = new Date(route?.until ?? '');
    expect(route?.until).to.equal(until.toISOString());
    expect(until.getTime()).to.be.within(from + LONG_MS / 2, Date.now() + LONG_MS);
    const problem = expectProblem(await callPost('long'), 502);
    expect(reasonOf(problem, 'breaker')).to.equal('open');
    for (let count = 0; count < 5; count += 1) {
      expect((await callItems(host, 'long')).status).to.equal(200);
    }
  });

  it('explains a route whose breaker is open as 502, and others as unknown', async () => {
    await openRoute('long');
    const explain = async (method: string) => {
      const query = `method=${method}&target=${encodeURIComponent('/modules/long/http/items')}`;
      return parseJson(await call(host, { target: `/explain?${query}` }));
    };
    const post = await explain('POST');
    expect(post['verdict']).to.include({ status: 502 });
    expect(post['endpoints']).to.deep.equal([{ endpoint: proxy.url, state: 'open' }]);
    const get = await explain('GET');
    expect(get['verdict']).not.to.include({ status: 502 });
    expect(get['endpoints']).to.deep.equal([{ endpoint: proxy.url, state: 'up' }]);
  });

  it('closes for a route with a probe, and is then no longer listed', async () => {
    await openRoute();
    const routes = async () => (await readModule(host, 'm')).endpoints[0]?.routes ?? [];
    await waitUntil('half-open', async () => (await routes())[0]?.state === 'half_open');
    expect((await routes())[0]?.until).to.equal(null);
    expect((await callPost()).status).to.equal(200);
    expect(await routes()).to.deep.equal([]);
  });

  it('stays open when the descriptor is rewritten with the same content', async () => {
    await open('long');
    const before = await readModule(host, 'long');
    host.drop('long.json', JSON.stringify(describeLong(), null, 4));
    host.drop('other.json', describeItems('other', { endpoints: [provider.url] }));
    await waitUntil('the other file', async () => {
      const { status: answered } = await callItems(host, 'other');
      return answered === 200;
    });
    // The digest of the file itself is of its bytes.
    const after = { ...(await readModule(host, 'long')), file_digest: null };
    expect(after).to.deep.equal({ ...before, file_digest: null });
  });

  it('is reset when the descriptor changes', async () => {
    await open('long');
    await proxy.set({ kind: 'none' });
    host.drop('long.json', describeItems('long', { endpoints: [proxy.url] }));
    await waitUntil('a good answer', async () => (await callPost('long')).status === 200);
  });

  it('belongs to one module, not to its provider', async () => {
    host.drop('twin.json', describeItems('twin', { endpoints: [proxy.url] }));
    await waitUntil('the twin', async () => (await callItems(host, 'twin')).status === 200);
    await open('long');
    await proxy.set({ kind: 'none' });
    expect((await callItems(host, 'twin')).status).to.equal(200);
    expect((await callPost('long')).status).to.equal(502);
  });
});
