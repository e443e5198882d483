import { expect } from 'chai';
import { createWorkplace } from '../support/cli/run-in.js';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { openHost } from '../support/open-host.js';
import { answerJson, startProvider } from '../support/provider.js';
import { use } from '../support/use.js';

const ROUTES = [
  { method: 'GET', path: '/orders', capability: 'orders.read' },
  { method: 'GET', path: '/orders/{id}', capability: 'orders.read' },
];
const TOKEN = 'dev-service:ops:orders.read,modgate.candidate.read';

describe('modgate candidate', () => {
  const place = createWorkplace();
  const live = use(() => startProvider(answerJson({ total: 1, lines: [{ sku: 'a' }] })));
  const other = use(() => startProvider(answerJson({ total: 2, lines: [{}] })));
  const host = use(() => {
    const candidate = { endpoints: [other.url], share: 1 };
    place.write('modules.d/orders.json', describeModule('orders', live.url, ROUTES, { candidate }));
    place.write('modules.d/plain.json', describeModule('plain', live.url, ROUTES));
    return openHost([
      ...['serve', '--env', 'development', '--port', '0', '--state', `${place.folder}/state`],
      ...['--modules', `${place.folder}/modules.d`],
    ]);
  });

  const run = (...args: string[]) =>
    place.run(['candidate', ...args, '--url', host.url, '--token', TOKEN]);

  it('prints the copies of each route and the last differences', async () => {
    await call(host, { target: '/modules/orders/http/orders/7', as: TOKEN });
    await waitUntil('a difference is found', async () => {
      return (await run('orders')).stdout.includes('missing');
    });
    const { code, stdout } = await run('orders');
    expect(code).to.equal(0);
    const lines = stdout.split('\n');
    expect(lines.slice(0, 4)).to.deep.equal([
      'ROUTE             SAME  DIFFERENT  FAILED  DROPPED',
      'GET /orders          0          0       0        0',
      'GET /orders/{id}     0          1       0        0',
      '',
    ]);
    expect(lines[4]).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}GET \/orders\/\{id\} {2}200 {2}\S+$/);
    expect(lines.slice(5)).to.deep.equal(['  value    /total', '  missing  /lines/0/sku', '']);
  });

  it('prints the response of the host with --json', async () => {
    const { code, stdout } = await run('orders', '--json');
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.have.all.keys('module', 'totals', 'differences');
  });

  it('says so for a module without a candidate, and exits with 1 for an unknown one', async () => {
    const plain = await run('plain');
    expect(plain).to.deep.include({ code: 0, stdout: 'the module has no candidate\n' });
    const unknown = await run('other');
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.include('responded with 404');
  });
});
