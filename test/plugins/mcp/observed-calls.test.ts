import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useStarted } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callTool, problemOf } from '../../support/mcp/mcp-call.js';
import { scrape } from '../../support/observability/exposition.js';
import { startOtlpReceiver } from '../../support/observability/otlp-receiver.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];
const AGENT = { as: 'dev-service:agent:shop.read' };
/** No second call within the test. */
const RATE = { actor_per_second: 0.001, actor_burst: 1 };

describe('a call of a tool', () => {
  const receiver = use(startOtlpReceiver);

  const setup = useStarted(({ url }) => {
    const mcp = { mcp: { expose: 'read' } };
    return startHost({
      files: {
        'shop.json': describeModule('shop', url, ROUTES, mcp),
        'slow.json': describeModule('slow', url, ROUTES, { ...mcp, rate: RATE }),
      },
      args: ['--surfaces', 'mcp'],
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '50' },
    });
  });

  it('is in the records, the metrics and the traces', async () => {
    const { host } = setup;
    await callTool(host, 'shop_get_items_by_id', '{"id":"7"}', AGENT);
    const { calls } = parseJson(await call(host, { target: '/calls?module=shop' }));
    const records = calls as Record<string, unknown>[];
    expect(records).to.have.length(1);
    const [record] = records;
    expect(record).to.include({ surface: 'mcp', actor: 'service:agent', route: '/items/{id}' });
    const metrics = await scrape(host);
    expect(metrics.sum('modgate_requests_total', { module: 'shop', status: '200' })).to.equal(1);
    const ofSurface = { surface: 'mcp', status: '200' };
    expect(metrics.sum('modgate_surface_requests_total', ofSurface)).to.equal(1);
    const attributes = { 'modgate.surface': 'mcp', 'modgate.module': 'shop' };
    await waitUntil('the call has a span', async () => {
      return receiver.spans.some(({ attributes: found }) =>
        Object.entries(attributes).every(([name, value]) => found[name] === value),
      );
    });
  });

  it('is under the rates of the module', async () => {
    const { host } = setup;
    const first = await callTool(host, 'slow_get_items_by_id', '{"id":"1"}', AGENT);
    expect(first.isError).to.equal(undefined);
    const second = await callTool(host, 'slow_get_items_by_id', '{"id":"1"}', AGENT);
    expect(problemOf(second)).to.include({ code: 'rate_limited' });
    expect(setup.provider.requests).to.have.length(1);
  });
});
