import { expect } from 'chai';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';
import { postMcp } from '../support/mcp/mcp-call.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

/**
 * A kind whose calls take so many steps of so many milliseconds and report after each, and a surface that makes such a
 * call and answers with the reports.
 */
const ENTRY = `import { defineAdapter, defineSurface } from ${JSON.stringify(CONTRACT_URL)};
import { any } from ${JSON.stringify(SUPERSTRUCT_URL)};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const adapter = defineAdapter({
  kind: 'acme-slow',
  config: any(),
  supports: {},
  open: () => ({
    manifest: async () => { throw new Error('it is inline'); },
    check: async () => {},
    invoke: async (invocation) => {
      const { steps, ms, how } = invocation.operation.pathParams;
      for (let step = 1; step <= Number(steps); step += 1) {
        await pause(Number(ms));
        const message = 'step\\u200b ' + step;
        const right = { progress: step, total: 9, message, more: 1 };
        const report = { right, wrong: { progress: 'x' }, none: null }[how];
        if (how !== 'silent') invocation.reportProgress(report);
      }
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from('"done"'),
      };
    },
  }),
});
const surface = defineSurface({
  name: 'desk',
  prefix: '/desk',
  config: any(),
  open: (config, { host }) => ({
    fetch: async (request, surfaceCall) => {
      const target = new URL(request.url).pathname.replace('/desk', '/modules/slow/http');
      const reports = [];
      const response = await host.request(surfaceCall.actor, {
        target,
        call: surfaceCall,
        onProgress: (progress) => { reports.push(progress); },
      });
      return Response.json({ status: response.status, reports });
    },
  }),
});
export default { adapters: [adapter], surfaces: [surface] };`;

const DESCRIPTOR = {
  module: 'slow',
  provider: { kind: 'acme-slow', config: {} },
  limits: { timeout_ms: 1000, stream: { max_ms: 3000 } },
  retry: { attempts: 0 },
  mcp: { expose: 'read' },
  manifest: {
    inline: {
      protocol: 'modgate.manifest.v1',
      module_id: 'slow',
      capabilities: ['slow.use'],
      http_routes: [{ method: 'GET', path: '/{steps}/{ms}/{how}', capability: 'slow.use' }],
    },
  },
};
const AS = 'dev-service:tester:slow.use';

describe('reports of progress', () => {
  let folder = '';

  const host = use(() => {
    folder = createFolder();
    const manifest = { kinds: ['acme-slow'], surfaces: ['desk'] };
    writePlugin(folder, { name: 'acme-slow', manifest, entry: ENTRY });
    return startHost({
      args: ['--plugins', folder, '--surfaces', 'desk,mcp'],
      files: { 'slow.json': DESCRIPTOR },
    });
  });

  before(async () => {
    await waitUntil('the module', async () => (await get('0/0/silent')).status === 200);
  });

  const get = (path: string) => call(host, { target: `/modules/slow/http/${path}`, as: AS });
  const failureOf = async (path: string) =>
    reasonOf(expectProblem(await get(path), 502), 'failure');

  it('start the time of a call anew', async () => {
    expect((await get('5/300/right')).status).to.equal(200);
    expect(await failureOf('5/300/silent')).to.equal('timeout');
  });

  it('extend a call no longer than a stream may be open', async () => {
    const startedAt = performance.now();
    expect(await failureOf('40/100/right')).to.equal('timeout');
    expect(performance.now() - startedAt).to.be.at.least(2900);
  });

  it('that are wrong extend nothing', async () => {
    for (const how of ['wrong', 'none'])
      expect(await failureOf(`5/300/${how}`)).to.equal('timeout');
  });

  it('reach the surface that made the call, ten in a second, escaped', async () => {
    const ask = async (path: string) => {
      const response = await call(host, { target: `/desk/${path}`, as: AS });
      return parseJson(response) as { status: number; reports: object[] };
    };
    expect(await ask('2/20/right')).to.deep.equal({
      status: 200,
      reports: [
        { progress: 1, total: 9, message: 'step\\u200b 1' },
        { progress: 2, total: 9, message: 'step\\u200b 2' },
      ],
    });
    const from = performance.now();
    const { status, reports } = await ask('60/1/right');
    expect(status).to.equal(200);
    const seconds = Math.ceil((performance.now() - from) / 1000);
    expect(reports.length).to.be.within(10, 10 * (seconds + 1));
  });

  it('reach agents that ask for them', async () => {
    const ask = async (meta: string) => {
      const params = `${meta}"name":"slow_get_by_steps_by_ms_by_how","arguments":{"steps":"2","ms":"20","how":"right"}`;
      const request = { method: 'tools/call', params, as: AS, revision: '2025-11-25' } as const;
      return (await postMcp(host, request)).body.toString();
    };
    const text = await ask('"_meta":{"progressToken":"t1"},');
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(events.slice(0, 2).map(({ params }) => params)).to.deep.equal([
      { progressToken: 't1', progress: 1, total: 9, message: 'step\\u200b 1' },
      { progressToken: 't1', progress: 2, total: 9, message: 'step\\u200b 2' },
    ]);
    expect(events[2]?.result.content).to.deep.equal([{ type: 'text', text: '"done"' }]);
    expect(await ask(''))
      .to.include('done')
      .and.not.include('progress');
  });
});
