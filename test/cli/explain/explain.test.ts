import { hash } from 'node:crypto';
import { expect } from 'chai';
import type { Explanation } from '../../../core/operations/explain/explanation.js';
import {
  EXPLAINER,
  listFiles,
  PROVIDER_SECRET,
  READER,
  SPECIAL,
} from '../../support/cli/explained-files.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { startEchoProvider } from '../../support/echo-provider.js';
import { call } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

describe('modgate explain', () => {
  /** Each asker has a limit of its own. */
  let askers = 0;

  const provider = use(startEchoProvider);
  const host = use(() =>
    startHost({
      files: listFiles(provider.url),
      env: { CRM_KEY: PROVIDER_SECRET },
      tokens: {
        tokens: [
          {
            id: 'job',
            kind: 'service',
            scopes: ['crm.write'],
            sha256: hash('sha256', 'opensesame'),
          },
        ],
      },
    }),
  );

  beforeEach(() => provider.reset());

  async function explain(method: string, target: string, ...args: string[]): Promise<Explanation> {
    const commandLine = ['explain', method, target, '--url', host.url, '--json', ...args];
    const { code, stdout, stderr } = await runModgate(commandLine, { MODGATE_TOKEN: EXPLAINER });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).not.to.include(PROVIDER_SECRET);
    return JSON.parse(stdout) as Explanation;
  }

  /** Behaves like the command, but without a process per request. */
  async function ask(method: string, target: string, as: string): Promise<Explanation> {
    askers += 1;
    const response = await askBy(`dev-service:ops-${askers}:modgate.explain`, as, method, target);
    return (await response.json()) as Explanation;
  }

  function askBy(asker: string, as: string, method = 'GET', target = SPECIAL): Promise<Response> {
    const query = new URLSearchParams({ method, target });
    return fetch(`${host.url}/explain?${query}`, {
      headers: { authorization: `Bearer ${asker}`, 'modgate-explain-as': as },
    });
  }

  async function readLookups(result: string): Promise<number> {
    const metrics = await (await fetch(`${host.url}/metrics`)).text();
    const line = new RegExp(`^modgate_explain_as_total\\{result="${result}"\\} (\\d+)$`, 'm');
    return Number(line.exec(metrics)?.[1]);
  }

  const CALLERS = [
    'dev-service:a:crm.read',
    'dev-service:a',
    'dev-system:a',
    'dev-user:a:crm.read',
    'anonymous',
  ];
  const REQUESTS: readonly (readonly [method: string, target: string])[] = [
    ['GET', SPECIAL],
    ['HEAD', '/modules/acme%2Fcrm/http/items/1'],
    ['GET', '/modules/acme%2Fcrm/http/a/b'],
    ['PUT', '/modules/acme%2Fcrm/http/items/1'],
    ['DELETE', '/modules/acme%2Fcrm/http/items/1'],
    ['POST', '/modules/acme%2Fcrm/http/items/1'],
    ['POST', '/modules/acme%2Fcrm/http/closed'],
    ['OPTIONS', '/modules/acme%2Fcrm/http/items/1'],
    ['GET', '/modules/acme%2Fcrm/http/items/'],
    ['GET', '/modules/acme%2Fcrm/http/items/%2e%2e/x'],
    ['GET', '/modules/acme%2Fcrm/http/console-bridge/crm.read'],
    ['GET', '/modules/nope/http/x'],
    ['GET', '/modules/off/http/x'],
    ['GET', '/modules/refused/http/x'],
  ];
  for (const [method, target] of REQUESTS) {
    it(`predicts the response to ${method} ${target} for every caller`, async () => {
      for (const as of CALLERS) {
        const { verdict } = await ask(method, target, as);
        const isBodied = method === 'PUT' || method === 'POST';
        const { status } = await call(host, {
          method,
          target,
          as,
          ...(isBodied && {
            headers: [['content-type', 'application/json']],
            body: Buffer.from('1'),
          }),
        });
        expect(verdict.status, as).to.equal(status);
      }
    });
  }

  it('does not call the provider', async () => {
    await explain('GET', SPECIAL, '--as', READER);
    expect(provider.requests).to.have.length(0);
  });

  it('names the module, the route, and the other matching routes in order', async () => {
    const { module, route, also_matches, path, methods } = await explain(
      'GET',
      SPECIAL,
      '--as',
      READER,
    );
    expect(module).to.include({ name: 'acme/crm', file: 'crm.yaml', state: 'live', reason: null });
    expect(path).to.deep.equal({
      kind: 'module',
      module: 'acme/crm',
      provider_path: '/items/special',
      forward_target: '/items/special?x=1',
      problem: null,
    });
    expect(route).to.deep.equal({
      method: 'GET',
      declared_path: '/items/special',
      capability: 'crm.read',
      path_params: {},
    });
    expect(also_matches.map(({ declared_path }) => declared_path)).to.deep.equal([
      '/items/{id}',
      '/{rest...}',
    ]);
    expect(methods).to.deep.equal(['GET', 'PUT', 'DELETE']);
  });

  it('names the file and line of each limit, or the default', async () => {
    const { limits } = await explain('GET', SPECIAL);
    const sources = Object.fromEntries(
      limits.map(({ name, value, source }) => [name, [value, source]]),
    );
    expect(sources).to.deep.include({
      'operation.timeout_ms': [300, 'crm/manifest.json:9:22'],
      'limits.timeout_ms': [4000, 'crm.yaml:10:3'],
      'limits.request_bytes': [77, 'crm.yaml:11:3'],
      'limits.response_bytes': [4_194_304, 'default'],
      'retry.attempts': [1, 'crm.yaml:13:10'],
      'retry.budget': [0.2, 'default'],
      provider_errors: ['problem', 'default'],
    });
  });

  it('lists exactly the headers that the provider receives', async () => {
    const { headers } = await explain(
      'PUT',
      '/modules/acme%2Fcrm/http/items/1',
      '--as',
      'dev-system:root',
    );
    const sent = headers.filter(({ from }) => from === 'caller').map(({ name }) => name);
    await call(host, {
      method: 'PUT',
      target: '/modules/acme%2Fcrm/http/items/1',
      as: 'dev-system:root',
      headers: [
        ...sent.map(
          (name) => [name, name === 'content-type' ? 'application/json' : 'x=y'] as const,
        ),
        ['traceparent', `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`],
        ['cookie', 'a=b'],
        ['x-other', 'x'],
      ],
      body: Buffer.from('1'),
    });
    const received = new Map(
      provider.only().headers.map(([name, value]) => [name.toLowerCase(), value]),
    );
    const ofTransport = ['host', 'connection', 'content-length'];
    expect(headers.map(({ name }) => name)).to.have.members(
      [...received.keys()].filter((name) => !ofTransport.includes(name)),
    );
    for (const { name, value } of headers) {
      if (value !== null) expect(received.get(name), name).to.equal(value);
    }
    expect(headers.find(({ from }) => from === 'credentials')).to.include({
      name: 'x-key',
      value: null,
    });
    expect(received.get('x-key')).to.equal(PROVIDER_SECRET);
  });

  it('lists endpoints and their state', async () => {
    const { endpoints } = await explain('GET', SPECIAL);
    expect(endpoints).to.deep.equal([{ endpoint: provider.url, state: 'up' }]);
  });

  it('names the body policy of a route', async () => {
    const bodyOf = async (method: string) =>
      (await explain(method, '/modules/acme%2Fcrm/http/items/1')).body;
    expect(await bodyOf('GET')).to.deep.equal({ policy: 'ignored', max_bytes: null });
    expect(await bodyOf('DELETE')).to.deep.equal({ policy: 'empty', max_bytes: 0 });
    expect(await bodyOf('PUT')).to.deep.equal({ policy: 'json', max_bytes: 77 });
  });

  it('names the segment of a path that cannot match, with the reason', async () => {
    const { path, checks } = await explain('GET', '/modules/acme%2Fcrm/http/a/%252e/b');
    expect(path.problem).to.deep.equal({
      rule: 'double-encoding',
      segment: 2,
      reason: 'segment 2 is encoded twice',
    });
    const failed = checks.filter(({ outcome }) => outcome === 'fail');
    expect(failed.map(({ check, status }) => [check, status])).to.deep.equal([['path', 404]]);
  });

  it('explains why a module does not serve, and suggests a similar name', async () => {
    const detailOf = async (module: string) => {
      const { checks } = await explain('GET', `/modules/${module}/http/x`);
      return checks.find(({ check }) => check === 'module');
    };
    expect((await detailOf('refused'))?.detail).to.match(
      /^module 'refused' is refused \(refused\.yaml\): /,
    );
    expect((await detailOf('refused'))?.next_actions).to.deep.equal(["did you mean 'config'?"]);
    expect((await detailOf('off'))?.detail).to.include('enabled is false');
    expect((await detailOf('of'))?.next_actions).to.deep.equal(["did you mean 'off'?"]);
    expect((await detailOf('zzzzzz'))?.next_actions).to.deep.equal([]);
  });

  it('names the nearest routes of a path without a route', async () => {
    const nearest = async (method: string, path: string) => {
      const { checks } = await explain(method, `/modules/acme%2Fcrm/http/${path}`);
      const route = checks.find(({ check }) => check === 'route');
      expect(route).to.include({ outcome: 'fail', status: 404 });
      return route?.next_actions.join();
    };
    expect(await nearest('POST', 'closd')).to.match(/^nearest routes: POST \/closed, GET \/\{rest/);
    expect(await nearest('PUT', 'item/7')).to.match(/^nearest routes: PUT \/items\/\{id\}, /);
  });

  it('explains no route of the host, and the bridge by its own checks', async () => {
    const ofHost = await explain('GET', '/livez');
    expect(ofHost).to.deep.include({ checks: [], module: null });
    expect(ofHost.verdict.status).to.equal(null);
    const bridge = await explain('POST', '/modules/acme%2Fcrm/http/console-bridge/crm.config');
    expect(bridge.path.kind).to.equal('bridge');
    expect(bridge.verdict.status).to.equal(403);
    expect(bridge).to.deep.include({ route: null, also_matches: [], methods: [] });
  });

  it('explains its caller, or another one by any valid token', async () => {
    expect((await explain('GET', SPECIAL)).actor).to.deep.equal({
      kind: 'service',
      id: 'ops',
      scopes: ['modgate.explain'],
    });
    const other = await explain('GET', SPECIAL, '--as', 'opensesame');
    expect(other.actor).to.deep.equal({ kind: 'service', id: 'job', scopes: ['crm.write'] });
    const stranger = await explain('GET', SPECIAL, '--as', 'stranger');
    expect(stranger).to.deep.include({ actor: null });
    expect(stranger.route?.declared_path).to.equal('/items/special');
  });

  it('logs neither the token nor the target', async () => {
    await explain('GET', '/modules/acme%2Fcrm/http/who/knows', '--as', 'opensesame');
    await waitUntil('the log line', () => host.logs().some(({ msg }) => msg === 'request'));
    expect(host.output()).not.to.include('opensesame').and.not.include('who/knows');
  });

  it('logs and counts each token that it explains, with its owner', async () => {
    const asker = 'dev-service:auditor:modgate.explain';
    const [matched, unknown] = [await readLookups('found'), await readLookups('unknown')];
    for (const as of ['opensesame', 'stranger']) await askBy(asker, as);
    const lines = () => host.logs().filter(({ actor }) => actor === 'service:auditor');
    await waitUntil('two lines', () => lines().some(({ result }) => result === 'unknown'));
    expect(
      lines().flatMap(({ msg, owner, result }) =>
        msg === 'request' ? [] : [[msg, owner, result]],
      ),
    ).to.deep.equal([
      ['token explained', 'service:job', 'found'],
      ['token explained', null, 'unknown'],
    ]);
    expect(await readLookups('found')).to.equal(matched + 1);
    expect(await readLookups('unknown')).to.equal(unknown + 1);
    expect(host.output()).not.to.include('opensesame').and.not.include('stranger');
  });

  it('limits the tokens that one caller can try', async () => {
    const asker = 'dev-service:guesser:modgate.explain';
    const statuses: number[] = [];
    let limited: Response | null = null;
    while (limited === null && statuses.length < 200) {
      const response = await askBy(asker, `guess-${statuses.length}`);
      statuses.push(response.status);
      if (response.status === 429) limited = response;
    }
    expect(statuses.length).to.be.within(30, 199);
    expect(limited?.headers.get('retry-after')).to.equal('1');
    expect(await limited?.json()).to.deep.include({ code: 'rate_limited' });
    expect(await readLookups('limited')).to.equal(1);
    expect((await askBy('dev-service:other:modgate.explain', 'opensesame')).status).to.equal(200);
  });

  it('requires its scope', async () => {
    const target = `/explain?method=GET&target=${encodeURIComponent(SPECIAL)}`;
    expectProblem(await call(host, { target, as: null }), 401);
    for (const as of [
      'dev-service:ops',
      'dev-service:ops:modgate.modules.read',
      'dev-user:a:console.admin',
    ]) {
      expectProblem(await call(host, { target, as }), 403);
    }
    const { code, stderr } = await runModgate(['explain', 'GET', SPECIAL, '--url', host.url]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^modgate: the host at \S+ responded with 401: [^\n]+\n$/);
  });

  it('rejects a missing parameter with 400 and other methods with 405', async () => {
    const ask = (query: string, headers: readonly (readonly [string, string])[] = []) =>
      call(host, { target: `/explain${query}`, as: EXPLAINER, headers });
    expect(reasonOf(expectProblem(await ask(''), 400), 'method')).to.equal('missing');
    expect(reasonOf(expectProblem(await ask('?method=GET'), 400), 'target')).to.equal('missing');
    const twice = expectProblem(await ask('?method=GET&method=PUT&target=%2F'), 400);
    expect(reasonOf(twice, 'method')).to.equal('repeated');
    const as = ['modgate-explain-as', 'x'] as const;
    expectProblem(await ask('?method=GET&target=%2F', [as, as]), 400);
    expectProblem(await call(host, { method: 'POST', target: '/explain', as: EXPLAINER }), 405);
  });

  it('prints text with the verdict first', async () => {
    const args = ['explain', 'put', '/modules/acme%2Fcrm/http/items/1', '--as', READER];
    const { code, stdout } = await runModgate([...args, '--url', host.url, '--token', EXPLAINER]);
    expect(code).to.equal(0);
    const lines = stdout.split('\n');
    expect(lines[0]).to.equal('PUT /modules/acme%2Fcrm/http/items/1');
    expect(lines[1]).to.equal('=> 403 a declared capability is required');
    for (const line of [
      'actor         service:me, scopes: crm.read',
      'module        acme/crm, live, crm.yaml',
      'route         PUT /items/{id} (crm.write)',
      'parameter     id = 1',
      'body          must be JSON, at most 77 bytes',
      '  FAIL  capability  403 a declared capability is required',
      '                    ask for the scope crm.write',
      '  modgate-actor: service:me',
      '  x-key: a credential of the host, not shown',
      `  ${provider.url} (up)`,
    ]) {
      expect(lines).to.include(line);
    }
    expect(stdout).to.match(/\n {2}limits\.timeout_ms +4000 +crm\.yaml:10:3\n/);
  });

  it('predicts 502 while every circuit breaker is open', async () => {
    provider.answer({ status: 500 });
    const target = '/modules/acme%2Fcrm/http/items/1';
    await waitUntil('the circuit breaker to open', async () => {
      await call(host, {
        method: 'PUT',
        target,
        headers: [['content-type', 'application/json']],
        body: Buffer.from('1'),
      });
      return (await explain('PUT', target, '--as', 'dev-system:a')).endpoints[0]?.state === 'open';
    });
    const { verdict } = await explain('PUT', target, '--as', 'dev-system:a');
    expect(verdict).to.deep.equal({
      status: 502,
      detail: 'the circuit breaker of every endpoint is open',
    });
  });
});
