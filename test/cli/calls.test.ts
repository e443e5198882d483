import { expect } from 'chai';
import { startFakeHost } from '../support/cli/fake-host.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { spawnModgate } from '../support/start-host.js';

const TOKEN = 'dev-service:ops:modgate.calls.read';
const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];

/** Runs with calls in memory only, and with calls in the store. */
for (const args of [[], ['--keep-calls', '1000']]) {
  describe(`modgate calls with serve ${args.join(' ')}`, () => {
    const setup = useHost(
      (provider) => ({ 'shop.json': describeModule('shop', provider.url, ROUTES) }),
      { args },
    );
    const request = (id: string, target = '/modules/shop/http/items/1') =>
      call(setup.host, { target, headers: [['x-request-id', id]] });
    const run = (...args: string[]) =>
      runModgate(['calls', ...args], { MODGATE_URL: setup.host.url, MODGATE_TOKEN: TOKEN });

    it('prints a table, newest first', async () => {
      await request('one');
      await request('two', '/modules/nope/http/x');
      const { code, stdout, stderr } = await run();
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const [titles, first, second] = stdout.split('\n');
      expect(titles).to.match(
        /^TIME +STATUS +MODULE +METHOD +ROUTE +DURATION +PROVIDER +ATTEMPTS +ACTOR /,
      );
      expect(first).to.match(/^20\S+Z +404 +- +GET +- +[\d.]+ +- +0 +system:root +- +two$/);
      expect(second).to.match(
        /Z +200 +shop +GET +\/items\/\{id\} +[\d.]+ +[\d.]+ +1 +system:root +- +one$/,
      );
    });

    it('shows why a call failed, and explains it by its request id', async () => {
      setup.provider.answer({ headers: [['content-type', 'text/html']], body: '<p>' });
      await request('html');
      const { stdout } = await run('--limit', '1');
      expect(stdout.split('\n')[1]).to.match(/protocol: content-type text\/html +html$/);
      const env = {
        MODGATE_URL: setup.host.url,
        MODGATE_TOKEN: 'dev-service:ops:modgate.explain,modgate.calls.read',
      };
      const explained = await runModgate(['explain', '--request-id', 'html'], env);
      expect(explained).to.include({ code: 0, stderr: '' });
      const [first, ...rows] = explained.stdout.trimEnd().split('\n');
      expect(first).to.equal('GET shop /items/{id} => 502');
      expect(rows.map((row) => row.replace(/ +/, ' '))).to.include.members([
        'request html',
        'actor system:root',
        'failure protocol',
        'detail content-type text/html',
        `endpoint ${setup.provider.url}`,
        'attempts 1',
        'code external_dependency_failure',
        'step provider',
      ]);
      const json = await runModgate(['explain', '--request-id', 'html', '--json'], env);
      expect(JSON.parse(json.stdout).calls[0]).to.include({ request_id: 'html', status: 502 });
      const unknown = await runModgate(['explain', '--request-id', 'nope'], env);
      expect(unknown.code).to.equal(1);
      expect(unknown.stderr).to.match(/responded with 404: no recorded call has this request id/);
    });

    it('applies filters, and prints the response of the host with --json', async () => {
      const { code, stdout } = await run(
        ...['--module', 'shop', '--status', '200', '--limit', '1', '--since', '1h', '--json'],
      );
      const { calls, next_cursor } = JSON.parse(stdout);
      expect({ code, length: calls.length, next_cursor }).to.deep.equal({
        code: 0,
        length: 1,
        next_cursor: null,
      });
      for (const since of ['2100-01-01T00:00:00Z', '2100-01-01']) {
        const none = await run('--since', since, '--json');
        expect(JSON.parse(none.stdout).calls, since).to.deep.equal([]);
      }
    });

    it('follows calls as they complete, each once, oldest first', async () => {
      const env = { MODGATE_URL: setup.host.url, MODGATE_TOKEN: TOKEN };
      const following = spawnModgate(['calls', '--follow', '--json', '--module', 'shop'], env);
      const countCalls = () =>
        following
          .stdout()
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line).request_id as string);
      try {
        let sent = 0;
        await waitUntil('it to follow', async () => {
          await request(`first-${sent++}`);
          return countCalls().length > 0;
        });
        await Promise.all(['a', 'b', 'c', 'd'].map((id) => request(id)));
        await request('same');
        await request('same');
        await request('last');
        await waitUntil('the last call', () => countCalls().includes('last'));
        const ids = countCalls().filter((id) => !id.startsWith('first-'));
        expect(ids.slice(0, 4).toSorted()).to.deep.equal(['a', 'b', 'c', 'd']);
        expect(ids.slice(4)).to.deep.equal(['same', 'same', 'last']);
        expect(countCalls()).to.not.include('one');
      } finally {
        following.child.kill();
        await following.exit;
      }
    });

    it('exits with 2 for invalid options and with 1 when the host rejects the request', async () => {
      for (const args of [
        ['--status', 'x'],
        ['--limit', '0'],
        ['--since', 'then'],
        ['--since', '2026-01-31T12:00:00'],
        ['--since', '2026-99-01T00:00:00Z'],
        ['--follow', '--limit', '3'],
        ['extra'],
        ['--module', 'A B'],
      ]) {
        expect((await run(...args)).code, args.join(' ')).to.equal(2);
      }
      expect((await run('--token', 'dev-service:x')).code).to.equal(1);
    });
  });
}

describe('modgate calls --follow', () => {
  const START_MS = Date.parse('2026-01-01T00:00:00Z');
  const NULLS = { trace_id: null, module: 'shop', route: '/items', failure: null };
  const record = (id: string, ms: number) => ({
    ...{ ...NULLS, failure_detail: null, actor: 'service:me', client: null, endpoint: null },
    ...{ at: new Date(START_MS + ms).toISOString(), request_id: id, correlation_id: id },
    ...{ method: 'GET', status: 200, duration_ms: 1, provider_ms: null, attempts: 1 },
  });

  it('prints calls that a host lists after later ones, each once', async () => {
    const calls = [record('before', 0)];
    // Only the process of a call has its bodies, and any process of a host may respond.
    let bodies = {};
    const host = await startFakeHost(({ searchParams }) => {
      const since = searchParams.get('since') ?? '';
      const listed = calls.filter(({ at }) => at >= since).map((call) => ({ ...call, ...bodies }));
      return {
        body: { calls: listed.toSorted((a, b) => (a.at < b.at ? 1 : -1)), next_cursor: null },
      };
    });
    const following = spawnModgate(['calls', '--follow', '--json', '--url', host.url]);
    const listIds = () =>
      following
        .stdout()
        .split('\n')
        .flatMap((line) => (line === '' ? [] : JSON.parse(line).request_id));
    try {
      await waitUntil('the first poll', () => host.requests.length >= 2);
      calls.push(record('own', 5000));
      await waitUntil('the call of the host', () => listIds().includes('own'));
      bodies = { request_body: 'a', response_body: 'b' };
      calls.push(record('of another', 4500));
      await waitUntil('the call of another host', () => listIds().includes('of another'));
      calls.push(record('last', 5000), record('last', 5000));
      // Their lines may arrive one by one.
      await waitUntil('the last calls', () => listIds().at(-2) === 'last');
      expect(listIds()).to.deep.equal(['own', 'of another', 'last', 'last']);
    } finally {
      following.child.kill();
      await following.exit;
      await host.close();
    }
  });
});
