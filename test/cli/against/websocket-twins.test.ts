import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { startHost } from '../../support/start-host.js';
import { use, useEach } from '../../support/use.js';

const READER = { MODGATE_TOKEN: 'dev-service:ops:modgate.modules.read' };
const LIST = {
  ...{ method: 'GET', path: '/items', capability: 'shop.use' },
  operation: { operation_id: 'list' },
};
const LIVE = { ...LIST, operation: { operation_id: 'live', stream: 'websocket' } };

const serve = (...routes: RouteOptions[]) =>
  describeModule('shop', 'http://127.0.0.1:9', routes, { public: true });

describe('modgate check --against, for a WebSocket beside a route of its path', () => {
  const host = use(() => startHost({ files: { 'shop.json': serve(LIST, LIVE) } }));
  const place = useEach(createWorkplace);

  async function compare(...routes: RouteOptions[]): Promise<string[]> {
    place.write('modules.d/shop.json', serve(...routes));
    const { code, stdout } = await place.run(['check', '--against', host.url], READER);
    expect(code).to.equal(0);
    return stdout.slice(stdout.indexOf('against')).trim().split('\n').slice(1, -1);
  }

  it('reports which of the two is removed', async () => {
    const count = 'calls in the last hour unknown: the token lacks the scope modgate.calls.read';
    for (const [kept, name] of [
      [LIVE, 'GET /items'],
      [LIST, 'GET /items as a WebSocket'],
    ] as const) {
      expect(await compare(kept)).to.deep.equal([
        '  ~ shop changed',
        `      - ${name} (shop.use), ${count}`,
      ]);
    }
  });

  it('reports which of the two newly needs no credentials', async () => {
    const open = { access: 'public' as const };
    expect(await compare({ ...LIST, ...open }, { ...LIVE, ...open })).to.deep.equal([
      '  ~ shop changed',
      '      + permission anonymous opens GET /items',
      '      + permission anonymous opens GET /items as a WebSocket',
    ]);
  });
});
