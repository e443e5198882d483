import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { answerJson, startProvider } from '../../support/provider.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const ROUTES = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'GET', path: '/items/{id}', capability: 'crm.read' },
  { method: 'POST', path: '/items', capability: 'crm.read' },
  {
    method: 'GET',
    path: '/declared',
    capability: 'crm.read',
    operation: {
      operation_id: 'declared',
      output_schema: { properties: { 'first name': {}, 'a/b': {} } },
    },
  },
  {
    method: 'GET',
    path: '/declared',
    capability: 'crm.read',
    operation: { operation_id: 'live', stream: 'websocket' },
  },
];
const TOKEN = 'dev-service:me:crm.read,modgate.candidate.read';

type Totals = Readonly<Record<string, unknown>>;

interface Report {
  readonly module: string;
  readonly totals: readonly Totals[];
  readonly differences: readonly Totals[];
}

describe('a candidate beside the live provider', () => {
  let answerLive: RequestListener;
  let answerCandidate: RequestListener;
  let modules = 0;
  let module = '';

  const live = use(() => startProvider((request, response) => answerLive(request, response)));
  const candidate = use(() =>
    startProvider((request, response) => answerCandidate(request, response)),
  );
  const host = use(() => startHost({ env: { TOKEN: 'secret-of-the-provider' } }));
  beforeEach(() => {
    answerLive = answerJson({ a: 1 });
    answerCandidate = answerJson({ a: 1 });
  });

  /** Serves a new module and waits until it is live. */
  async function serve(members: object = {}, overrides: object = {}, copies = 1): Promise<void> {
    modules += 1;
    module = `crm${modules}`;
    const config = { endpoints: [live.url], auth: { bearer: 'env:TOKEN' } };
    const descriptor = describeModule(module, live.url, ROUTES, {
      provider: { kind: 'http', config },
      candidate: { endpoints: [candidate.url], share: 1, ...members },
      ...overrides,
    });
    host.drop(`${module}.json`, descriptor);
    await waitUntil('the module is live', async () => (await send('/items')).status !== 404);
    await settle(copies);
    (live.requests as unknown[]).length = 0;
    (candidate.requests as unknown[]).length = 0;
  }

  function send(path: string, overrides: object = {}) {
    return call(host, { target: `/modules/${module}/http${path}`, as: TOKEN, ...overrides });
  }

  async function read(): Promise<Report> {
    const response = await call(host, { target: `/candidate?module=${module}`, as: TOKEN });
    expect(response.status).to.equal(200);
    return parseJson(response) as unknown as Report;
  }

  function sum({ totals }: Report): number {
    const counts = totals.flatMap(({ route: _, ...counts }) => Object.values(counts) as number[]);
    return counts.reduce((total, count) => total + count, 0);
  }

  /** The report once so many copies have ended. */
  async function settle(copies: number): Promise<Report> {
    let report = await read();
    await waitUntil(`${copies} copies have ended`, async () => {
      report = await read();
      return sum(report) >= copies;
    });
    return report;
  }

  function totalsOf({ totals }: Report, route: string) {
    const { route: _, ...counts } =
      totals.find((difference) => difference['route'] === route) ?? {};
    return counts;
  }

  it('gets the same request with the same ids and credentials, after the caller has the answer', async () => {
    await serve();
    const headers = [['idempotency-key', 'key-1']] as const;
    const response = await send('/items/7?x=%20', { headers });
    expect(parseJson(response)['data']).to.deep.equal({ a: 1 });
    expect(totalsOf(await settle(2), 'GET /items/{id}')).to.include({ same: 1, different: 0 });
    const [ours] = live.requests;
    const [copy] = candidate.requests;
    expect(copy?.target).to.equal('/items/7?x=%20');
    const { host: _a, 'modgate-deadline-ms': _b, ...sent } = ours?.headers ?? {};
    const { host: _c, 'modgate-deadline-ms': _d, ...copied } = copy?.headers ?? {};
    expect(copied).to.deep.equal({ ...sent, 'modgate-candidate': '1' });
    expect(copied['authorization']).to.equal('Bearer secret-of-the-provider');
    expect(sent).to.not.have.property('modgate-candidate');
    expect(live.requests).to.have.length(1);
  });

  it('shows where the answers differ, and no value', async () => {
    await serve();
    answerLive = answerJson({ name: 'secret-live', list: [1, 2], gone: 1 });
    answerCandidate = (_request, response) => {
      response.statusCode = 201;
      answerJson({ name: 'secret-other', list: ['x', 2], more: { deep: true } })(
        _request,
        response,
      );
    };
    const { headers } = await send('/items/secret-id');
    const report = await settle(2);
    const [difference] = report.differences;
    expect(difference).to.deep.include({ route: 'GET /items/{id}', live: 200, candidate: 201 });
    const id = headers.find(([name]) => name.toLowerCase() === 'x-request-id')?.[1];
    expect(difference?.['request_id']).to.equal(id);
    expect(difference?.['pointers']).to.have.deep.members([
      { pointer: '/name', kind: 'value' },
      { pointer: '/list/0', kind: 'type' },
      { pointer: '/gone', kind: 'missing' },
      { pointer: '/more', kind: 'extra' },
    ]);
    expect(JSON.stringify(report)).to.not.contain('secret');
  });

  it('shows names of members that a schema declares or that are plain identifiers', async () => {
    await serve();
    answerLive = answerJson({});
    const names = [
      'first name',
      'a/b',
      'plain-name_1$',
      'bob@mail.test',
      'id12345',
      'x'.repeat(41),
    ];
    answerCandidate = answerJson(Object.fromEntries(names.map((name) => [name, 1])));
    await send('/declared');
    const [difference] = (await settle(2)).differences;
    expect(difference?.['pointers']).to.have.deep.members(
      ['/first name', '/a~1b', '/plain-name_1$', '/*'].map((pointer) => ({
        pointer,
        kind: 'extra',
      })),
    );
  });

  it('counts neither ignored places nor differences between answers of the live provider', async () => {
    await serve({ ignore: ['/took', '/items/*/at'], baseline: true });
    let calls = 0;
    answerLive = (request, response) => {
      calls += 1;
      answerJson({ took: 1, items: [{ at: 1, id: calls }], n: 1 })(request, response);
    };
    answerCandidate = answerJson({ took: 2, items: [{ at: 2, id: 'other' }], n: 1 });
    await send('/items');
    expect(totalsOf(await settle(2), 'GET /items')).to.include({ same: 2, different: 0 });
    expect(live.requests).to.have.length(2);
    expect(live.requests[1]?.headers).to.not.have.property('modgate-candidate');
    answerCandidate = answerJson({ items: [{ id: 'other' }], n: 2 });
    await send('/items');
    const [difference] = (await settle(3)).differences;
    expect(difference?.['pointers']).to.deep.equal([{ pointer: '/n', kind: 'value' }]);
  });

  it('copies only the methods that are listed, with their bodies', async () => {
    await serve();
    const body = Buffer.from('{"n":1}');
    await send('/items', { method: 'POST', headers: [JSON_TYPE], body });
    await send('/items', { method: 'HEAD' });
    await send('/items');
    await settle(2);
    expect(candidate.requests.map(({ method }) => method)).to.deep.equal(['GET']);
  });

  it('copies POST with its body, and never makes it again at the live provider', async () => {
    await serve({ methods: ['GET', 'POST'], baseline: true });
    const body = Buffer.from('{"n":1}');
    await send('/items', { method: 'POST', headers: [JSON_TYPE], body });
    await settle(2);
    expect(candidate.requests.map((request) => request.body.toString())).to.deep.equal(['{"n":1}']);
    expect(live.requests.map(({ method }) => method)).to.deep.equal(['POST']);
  });

  it('compares answers that are errors too', async () => {
    await serve();
    answerLive = (request, response) => {
      response.statusCode = 404;
      answerJson({ error: 'none' })(request, response);
    };
    expect((await send('/items')).status).to.equal(502);
    const report = await settle(2);
    expect(totalsOf(report, 'GET /items')).to.include({ different: 1 });
    expect(report.differences[0]).to.deep.include({ live: 404, candidate: 200 });
  });

  const failures: Readonly<Record<string, RequestListener>> = {
    'answers no JSON': (_request, response) => response.end('<html>'),
    'answers broken JSON': (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"a":');
    },
    'closes the connection': (request) => request.socket.destroy(),
    hangs: () => {},
    'streams forever': (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.write('[');
      const timer = setInterval(() => response.write('1,'), 5);
      response.on('close', () => clearInterval(timer));
    },
  };
  for (const [title, answer] of Object.entries(failures)) {
    it(`counts a candidate that ${title} as failed, and the caller notices nothing`, async () => {
      await serve({}, { limits: { timeout_ms: 2000 }, breaker: { failures: 1 } });
      answerCandidate = answer;
      for (let count = 0; count < 3; count += 1) {
        expect((await send('/items')).status).to.equal(200);
      }
      expect(totalsOf(await settle(4), 'GET /items')).to.include({ failed: 3 });
      const { modules: listed } = parseJson(
        await call(host, { target: '/modules' }),
      ) as unknown as { modules: { name: string; endpoints: object[]; counts: object }[] };
      const entry = listed.find(({ name }) => name === module);
      expect(entry?.endpoints).to.have.length(1);
      expect(entry?.endpoints[0]).to.include({ state: 'up', failures: 0 });
      expect(entry?.counts).to.include({ failed: 0 });
    });
  }

  it('drops answers that are longer than it compares, on either side', async () => {
    await serve();
    answerCandidate = (request, response) => {
      response.setHeader('content-type', 'application/json');
      const megabyte = `"${'x'.repeat(1_048_576)}",`;
      let left = 50;
      const write = () => {
        while (left > 0) {
          left -= 1;
          if (!response.write(megabyte)) break;
        }
        if (left === 0) response.end();
      };
      response.on('drain', write);
      request.socket.on('error', () => {});
      write();
    };
    expect((await send('/items')).status).to.equal(200);
    expect(totalsOf(await settle(2), 'GET /items')).to.include({ dropped: 1 });
    answerLive = answerJson('x'.repeat(300_000));
    expect((await send('/items')).status).to.equal(200);
    expect(totalsOf(await settle(3), 'GET /items')).to.include({ dropped: 2 });
    expect(candidate.requests).to.have.length(1);
  });

  it('compares long answers', async () => {
    await serve();
    const rows = Array.from({ length: 4000 }, (_, id) => ({ id, name: `row ${id}` }));
    answerLive = answerJson(rows);
    answerCandidate = answerJson(rows.map((row) => (row.id === 7 ? { ...row, name: '' } : row)));
    await send('/items');
    const [difference] = (await settle(2)).differences;
    expect(difference?.['pointers']).to.deep.equal([{ pointer: '/7/name', kind: 'value' }]);
  });

  it('drops copies beyond its concurrency', async () => {
    await serve({ concurrency: 2 });
    const held: (() => void)[] = [];
    answerCandidate = (request, response) => {
      held.push(() => answerJson({ a: 1 })(request, response));
    };
    for (let count = 0; count < 5; count += 1) {
      expect((await send('/items')).status).to.equal(200);
    }
    expect(totalsOf(await settle(4), 'GET /items')).to.include({ same: 1, dropped: 3 });
    for (const release of held) release();
    expect(totalsOf(await settle(6), 'GET /items')).to.include({ same: 3, dropped: 3 });
    expect(candidate.requests).to.have.length(2);
  });

  it('copies the share of calls that their ids choose', async () => {
    await serve({ share: 0 }, {}, 0);
    await send('/items');
    await send('/items');
    expect(sum(await read())).to.equal(0);
  });

  it('follows the file of its endpoints', async () => {
    const other = await startProvider(answerJson({ a: 1 }));
    try {
      host.drop('next/endpoints.json', JSON.stringify([candidate.url]));
      await serve({ endpoints: { file: './next/endpoints.json' } });
      await send('/items');
      await settle(2);
      expect(candidate.requests).to.have.length(1);
      host.drop('next/endpoints.json', JSON.stringify([other.url]));
      await waitUntil('copies go to the other one', async () => {
        await send('/items');
        return other.requests.length > 0;
      });
    } finally {
      await other.stop();
    }
  });

  it('is counted by module, route and result', async () => {
    await serve();
    await send('/items');
    await settle(2);
    const { body } = await call(host, { target: '/metrics', as: 'dev-system:root' });
    expect(body.toString()).to.contain(
      `modgate_candidate_total{module="${module}",route="GET /items",result="same"} 2`,
    );
  });

  it('is not counted as a call of the module', async () => {
    await serve();
    const { body: before } = await call(host, { target: '/metrics', as: 'dev-system:root' });
    await send('/items');
    await settle(2);
    const { body } = await call(host, { target: '/metrics', as: 'dev-system:root' });
    const count = (text: Buffer) =>
      new RegExp(`modgate_requests_total\\{module="${module}",[^}]*"200"\\} (\\d+)`).exec(
        text.toString(),
      )?.[1];
    expect(Number(count(body)) - Number(count(before))).to.equal(1);
  });

  it('requires its scope, a module and a known one', async () => {
    await serve();
    const target = `/candidate?module=${module}`;
    expectProblem(await call(host, { target, as: 'dev-service:me:crm.read' }), 403, 'forbidden');
    expectProblem(await call(host, { target: '/candidate', as: TOKEN }), 400, 'validation_failed');
    expectProblem(
      await call(host, { target: '/candidate?module=no', as: TOKEN }),
      404,
      'not_found',
    );
  });
});
