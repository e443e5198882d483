import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runModgate } from '../../support/cli/run-modgate.js';
import { WHO, WHO_MODULE } from '../../support/cluster/who-module.js';
import { countLines, listWorkers, signal, TIMEOUT_MS } from '../../support/cluster/worker-log.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape } from '../../support/observability/exposition.js';

const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];
const BREAKER = { retry: { attempts: 0 }, breaker: { failures: 1, open_ms: 60_000 } };
const REQUESTS = 40;

interface CallEntry {
  readonly at: string;
  readonly request_id: string;
}

describe('a host with two workers', () => {
  const setup = useHostProcess(
    (provider) => ({
      'shop.json': describeModule('shop', provider.url, ROUTES),
      ...WHO_MODULE,
      'down.json': describeModule('down', 'http://127.0.0.1:1', ROUTES, BREAKER),
    }),
    { args: ['--workers', '2'] },
  );

  const get = (target: string, overrides = {}) => call(setup.host, { target, ...overrides });
  const list = async () => {
    const answer = parseJson(await get('/modules')) as {
      modules: {
        name: string;
        state: string;
        config_digest: string;
        reason: string | null;
        counts: { calls: number };
        endpoints: { calls: number; state: string }[];
      }[];
      workers: number;
    };
    return answer;
  };
  const find = async (name: string) => {
    return (await list()).modules.find((module) => module.name === name);
  };

  it('divides the memory budget', async () => {
    const exposed = await scrape(setup.host);
    // The sum of two halves.
    expect(exposed.sum('modgate_memory_budget_bytes')).to.equal(128 * 1_048_576);
  });

  it('logs listening and each surface once, and the pid of each worker', () => {
    expect(countLines(setup.host, 'listening')).to.equal(1);
    const ready = setup.host.logs().filter(({ msg }) => msg === 'surface ready');
    expect(ready.map(({ surface, url }) => [surface, url])).to.have.deep.members([
      ['console', `${setup.host.url}/console`],
      ['docs', `${setup.host.url}/docs`],
    ]);
    expect(new Set(listWorkers(setup.host)).size).to.equal(2);
    expect(listWorkers(setup.host)).to.not.include(setup.host.pid);
  });

  it('distributes connections to the workers in turn', async () => {
    const pids: unknown[] = [];
    for (let count = 0; count < 10; count += 1) {
      pids.push((parseJson(await get(WHO))['data'] as { pid: number }).pid);
    }
    expect(new Set(pids)).to.deep.equal(new Set(listWorkers(setup.host)));
  });

  it('explains calls of every worker by their request id, newest first', async () => {
    for (let count = 0; count < 4; count += 1) {
      await get('/modules/nope/http/x', { headers: [['x-request-id', 'same']] });
    }
    const { calls } = parseJson(await get('/explain?request_id=same')) as unknown as {
      calls: CallEntry[];
    };
    expect(calls.map(({ request_id }) => request_id)).to.deep.equal(Array(4).fill('same'));
    const times = calls.map(({ at }) => at);
    expect(times).to.deep.equal(times.toSorted().reverse());
  });

  it('sums the counts of all workers', async () => {
    const before = await scrape(setup.host);
    const ids = Array.from({ length: REQUESTS }, (_, index) => `one-view-${index}`);
    for (const id of ids) {
      const answer = await get('/modules/shop/http/items/1', { headers: [['x-request-id', id]] });
      expect(answer.status).to.equal(200);
    }
    const shop = { module: 'shop', status: '200' };
    const after = await scrape(setup.host);
    expect(
      after.sum('modgate_requests_total', shop) - before.sum('modgate_requests_total', shop),
    ).to.equal(REQUESTS);
    expect(after.find('modgate_requests_total', shop)).to.have.length(1);
    const entry = await find('shop');
    expect(entry?.counts.calls).to.equal(after.sum('modgate_requests_total', shop));
    expect(entry?.endpoints[0]?.calls).to.equal(entry?.counts.calls);
    expect(await pageThrough(7)).to.have.members(ids);
  });

  /** All request ids of this file's calls, read in pages of this size. */
  async function pageThrough(limit: number): Promise<string[]> {
    const entries: CallEntry[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = parseJson(await get(`/calls?module=shop&limit=${limit}${query}`)) as {
        calls: CallEntry[];
        next_cursor: string | null;
      };
      expect(page.calls.length).to.be.at.most(limit);
      entries.push(...page.calls);
      cursor = page.next_cursor;
    } while (cursor !== null);
    const times = entries.map(({ at }) => at);
    expect(times).to.deep.equal(times.toSorted().reverse());
    return entries.map(({ request_id }) => request_id).filter((id) => id.startsWith('one-view-'));
  }

  it('rejects an unknown cursor', async () => {
    expectProblem(await get('/calls?cursor=deadbeef-1'), 400, 'validation_failed');
  });

  it('is ready and reports the number of workers', async () => {
    expect((await get('/readyz', { as: null })).status).to.equal(200);
    expect((await list()).workers).to.equal(2);
  });

  it('exposes each metric once, with one state per module', async () => {
    const metrics = await scrape(setup.host);
    const live = { module: 'shop', state: 'live' };
    expect(metrics.find('modgate_module_state', live)).to.have.length(1);
    expect(metrics.sum('modgate_module_state', live)).to.equal(1);
    expect(metrics.sum('modgate_reload_total', { result: 'success' })).to.equal(3);
    expect(metrics.names).to.include('process_cpu_seconds_total');
    expect(metrics.sum('process_start_time_seconds')).to.be.within(
      Date.now() / 1000 - 600,
      Date.now() / 1000,
    );
  });

  it('serves a change in all workers when wait returns', async () => {
    for (let round = 1; round <= 5; round += 1) {
      const path = `/round-${round}/{id}`;
      const routes = [{ method: 'GET', path, capability: 'shop.read' }];
      const changed = describeModule('turn', setup.provider.url, routes);
      const digest = await digestOf(changed);
      const waiting = runModgate(['wait', digest, '--url', setup.host.url, '--timeout', '20s'], {
        MODGATE_TOKEN: 'dev-system:ops',
      });
      setup.host.drop('turn.json', changed);
      expect(await waiting).to.include({ code: 0, stderr: '' });
      const responses = Array.from({ length: 8 }, () => get(`/modules/turn/http/round-${round}/1`));
      const statuses = (await Promise.all(responses)).map(({ status }) => status);
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
    }
  });

  async function digestOf(descriptor: object): Promise<string> {
    const file = join(setup.host.directory, 'turn.json');
    writeFileSync(file, JSON.stringify(descriptor));
    const { stdout } = await runModgate(['check', file, '--json']);
    return (JSON.parse(stdout) as { files: [{ config_digest: string }] }).files[0].config_digest;
  }

  it('rejects an invalid file in all workers, keeps the old version and writes one status file', async () => {
    setup.host.drop('shop.json', 'module: shop\nprovider: { kind: http, confg: {} }\n');
    await waitUntil('stale', async () => (await find('shop'))?.state === 'stale', TIMEOUT_MS);
    const status = join(setup.host.directory, 'modules.d', '.status', 'shop.json.json');
    const read = () => JSON.parse(readFileSync(status, 'utf8')) as { state: string };
    await waitUntil('the status file', () => read().state === 'stale', TIMEOUT_MS);
    for (let count = 0; count < 4; count += 1) {
      expect((await get('/modules/shop/http/items/1')).status).to.equal(200);
    }
    setup.host.drop('shop.json', describeModule('shop', setup.provider.url, ROUTES));
    await waitUntil('live', async () => (await find('shop'))?.state === 'live', TIMEOUT_MS);
    await waitUntil('the status file', () => read().state === 'live', TIMEOUT_MS);
  });

  it('rescans in every worker on SIGHUP', async () => {
    const before = countLines(setup.host, 'modules folder rescanned');
    signal(setup.host, 'SIGHUP');
    await waitUntil(
      'both',
      () => countLines(setup.host, 'modules folder rescanned') === before + 2,
      TIMEOUT_MS,
    );
    const lines = setup.host.logs().filter(({ msg }) => msg === 'modules folder rescanned');
    expect(new Set(lines.slice(-2).map(({ worker }) => worker)).size).to.equal(2);
  });

  it('explains 502 as certain only when the breaker is open in every worker', async () => {
    const target = encodeURIComponent('/modules/down/http/items/1');
    const explain = async () => {
      const answer = await get(`/explain?method=GET&target=${target}`);
      return (parseJson(answer)['verdict'] as { status: number }).status;
    };
    const isOpen = async () => (await find('down'))?.endpoints[0]?.state === 'open';
    expect((await get('/modules/down/http/items/1')).status).to.equal(502);
    if (!(await isOpen())) expect(await explain()).to.not.equal(502);
    await waitUntil(
      'both have called',
      async () => {
        await get('/modules/down/http/items/1');
        return isOpen();
      },
      TIMEOUT_MS,
    );
    expect(await explain()).to.equal(502);
  });
});
