import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools } from '../../support/mcp/mcp-call.js';

const CALLER = 'dev-service:agent:shop.read,shop.write';

const post = (path: string, operation: object = {}) => ({
  method: 'POST',
  path,
  capability: 'shop.write',
  operation: { operation_id: path.slice(1), ...operation },
});
const ROUTES = [
  post('/search', { reads: true }),
  post('/guarded', { reads: true, danger_level: 'high' }),
  post('/order'),
];

describe('routes that say that they read', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, ROUTES, { mcp: { expose: 'read' } }),
      'all.json': describeModule('all', url, ROUTES, { mcp: { expose: 'all' } }),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  it('are exposed with the others that read', async () => {
    const tools = await listTools(setup.host, { as: CALLER, module: 'shop' });
    expect(tools.map(({ name }) => name)).to.deep.equal(['shop_search', 'shop_guarded']);
    const { annotations } = tools[0] ?? {};
    expect(annotations).to.include({ readOnlyHint: true, destructiveHint: false });
  });

  it('have a low danger by default, so that no person approves their calls', async () => {
    const texts = await listTools(setup.host, { as: CALLER, module: 'all' });
    const waits = texts.map(({ name, description }) => {
      return [name, description.includes('Waits for the approval')];
    });
    expect(waits).to.deep.equal([
      ['all_search', false],
      ['all_guarded', true],
      ['all_order', true],
    ]);
    const result = await callTool(setup.host, 'all_search', '{"body":{"q":"a"}}', { as: CALLER });
    expect(result.isError).to.equal(undefined);
  });

  it('are named as a wider right by check --against', async () => {
    const place = createWorkplace();
    const routes = [...ROUTES.slice(0, 2), post('/order', { reads: true })];
    const url = setup.provider.url;
    place.write('shop.json', describeModule('shop', url, routes, { mcp: { expose: 'read' } }));
    const { stdout } = await place.run(['check', 'shop.json', '--against', setup.host.url], {
      MODGATE_TOKEN: 'dev-service:ops:modgate.modules.read',
    });
    expect(stdout).to.include('~ POST /order: reads false -> true');
    expect(stdout).to.include('+ permission reads opens POST /order');
    expect(stdout).to.not.include('opens POST /search');
  });
});
