import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';
import { waitUntil } from '../../support/http/wait-until.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'shop.read' }];
const NOWHERE = 'http://127.0.0.1:9';

interface ModuleCounts {
  readonly name: string;
  readonly counts: { readonly calls: number; readonly failed: number };
}

/** Every module has the calls of one kind: whether these are failures, GET /modules and GET /calls say alike. */
const FAILED: Readonly<Record<string, boolean>> = {
  answered: false,
  envelope: true,
  raw: true,
  nowhere: true,
  busy: true,
  forbidden: false,
  left: false,
};

describe('the numbers of failed calls', () => {
  const setup = useScriptedProvider((url) => {
    const describe = (name: string, overrides: object = {}, endpoint = url) =>
      describeModule(name, endpoint, ROUTES, overrides);
    return {
      'answered.json': describe('answered'),
      'envelope.json': describe('envelope'),
      'raw.json': describe('raw', { responses: { mode: 'raw' } }),
      'nowhere.json': describe('nowhere', {}, NOWHERE),
      'busy.json': describe('busy', { limits: { concurrency: 1, queue: 0 } }),
      'forbidden.json': describe('forbidden', { callers: ['user'] }),
      'left.json': describe('left'),
    };
  });
  const answerWith = (status: number) =>
    setup.answer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end('1');
    });
  const exceedConcurrency = async () => {
    const held = new Promise<ServerResponse>((resolve) => {
      setup.answer((_request, response) => resolve(response));
    });
    const first = statusOf('busy');
    const response = await held;
    expect(await statusOf('busy')).to.equal(502);
    response.writeHead(200, { 'content-type': 'application/json' }).end('1');
    expect(await first).to.equal(200);
  };
  const statusOf = async (module: string) => {
    const response = await setup.fetch(module, '/items');
    await response.arrayBuffer();
    return response.status;
  };
  const leave = async () => {
    const controller = new AbortController();
    setup.answer(() => controller.abort());
    await setup.fetch('left', '/items', { signal: controller.signal }).catch(() => {});
  };

  it('are the same in GET /modules and in groups of GET /calls', async () => {
    answerWith(503);
    for (const module of ['envelope', 'raw', 'nowhere']) {
      expect(await statusOf(module)).to.be.least(502);
    }
    answerWith(200);
    expect(await statusOf('answered')).to.equal(200);
    const forbidden = await fetch(`${setup.host.url}/modules/forbidden/http/items`, {
      headers: { authorization: 'Bearer dev-service:a:shop.read' },
    });
    expect(forbidden.status).to.equal(403);
    await exceedConcurrency();
    await leave();
    await waitUntil('all calls are recorded', async () => (await listGroups()).size === 7);
    const groups = await listGroups();
    const { modules } = parseJson(await call(setup.host, { target: '/modules' })) as {
      modules: readonly ModuleCounts[];
    };
    for (const { name, counts } of modules) {
      expect(groups.get(name), name).to.equal(counts.failed);
      expect(counts.failed > 0, name).to.equal(FAILED[name]);
    }
  });

  async function listGroups(): Promise<Map<string, number>> {
    const response = parseJson(await call(setup.host, { target: '/calls?by=module' }));
    const { groups } = response as { groups: { module: string; failed: number }[] };
    return new Map(groups.map(({ module, failed }) => [module, failed]));
  }
});
