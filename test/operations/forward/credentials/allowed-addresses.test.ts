import { expect } from 'chai';
import { headerValues } from '../../../../core/selftest/raw-http.js';
import { bridgeBody, bridgeTarget, RELEASE, UI } from '../../../support/bridge/bridge.js';
import { call, JSON_TYPE, parseJson } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'shop.read' }];
const ITEMS = '/modules/shop/http/items';
const RESOLVE = {
  permission: 'shop.read',
  payload: { operation: 'contributions_resolve', target: 'x' },
};
const INSIDE = '192.0.2.7';
const OUTSIDE = '198.51.100.1';

describe('allow.addresses', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, ROUTES, {
        allow: { addresses: ['192.0.2.0/24', '2001:db8::/32'] },
        console: { release: RELEASE, ui: [UI], grants: ['shop.read'] },
      }),
      'open.json': describeModule('open', url, ROUTES),
    }),
    {
      args: [
        ...['--trusted-proxies', '127.0.0.1', '--allow-dev-auth-anywhere'],
        ...['--cors', 'https://app.example'],
      ],
      isDescribed: false,
    },
  );
  const from = (client: string, overrides: Partial<Parameters<typeof call>[1]> = {}) => {
    const { headers = [], ...rest } = overrides;
    return call(setup.host, {
      target: ITEMS,
      ...rest,
      headers: [['x-forwarded-for', client], ...headers],
    });
  };

  it('admits these addresses and rejects every other one', async () => {
    expect((await from(INSIDE)).status).to.equal(200);
    expect((await from('2001:db8::7')).status).to.equal(200);
    expect((await from('::ffff:192.0.2.7')).status).to.equal(200);
    for (const address of [OUTSIDE, '2001:db9::1', '127.0.0.1']) {
      expectProblem(await from(address), 403, 'forbidden');
    }
    expectProblem(await call(setup.host, { target: ITEMS }), 403, 'forbidden');
    expect((await from(OUTSIDE, { target: '/modules/open/http/items' })).status).to.equal(200);
  });

  it('decides before credentials are read', async () => {
    expectProblem(await from(OUTSIDE, { as: null }), 403, 'forbidden');
    expectProblem(await from(OUTSIDE, { as: 'wrong' }), 403, 'forbidden');
    expectProblem(await from(INSIDE, { as: null }), 401, 'unauthorized');
  });

  it('keeps the caller away from paths that match no route', async () => {
    expectProblem(await from(OUTSIDE, { target: '/modules/shop/http/nowhere' }), 403, 'forbidden');
    expectProblem(await from(OUTSIDE, { target: '/modules/shop/http/a//b' }), 403, 'forbidden');
    expectProblem(await from(OUTSIDE, { target: '/modules/other/http/items' }), 404, 'not_found');
  });

  it('covers the console bridge', async () => {
    const bridge = (client: string) =>
      from(client, {
        method: 'POST',
        target: bridgeTarget('shop', 'shop.read'),
        headers: [JSON_TYPE],
        body: Buffer.from(JSON.stringify(bridgeBody(RESOLVE))),
      });
    const outside = await bridge(OUTSIDE);
    expectProblem(outside, 403, 'forbidden');
    expect(JSON.parse(outside.body.toString()).detail).to.equal(
      'the module is not open to this address',
    );
    const inside = await bridge(INSIDE);
    expect(inside.body.toString()).to.not.include('not open to this address');
  });

  it('does not decide about preflights', async () => {
    const preflight = await from(OUTSIDE, {
      method: 'OPTIONS',
      as: null,
      headers: [
        ['origin', 'https://app.example'],
        ['access-control-request-method', 'GET'],
      ],
    });
    expect(preflight.status).to.equal(204);
    expect(headerValues(preflight.headers, 'access-control-allow-origin')).to.have.length(1);
  });

  it('is named in the log line and in the record of the call', async () => {
    await from(OUTSIDE, { headers: [['x-request-id', 'outside']] });
    const find = () => setup.host.logs().find((line) => line['request_id'] === 'outside');
    await waitUntil('the line', () => find() !== undefined);
    expect(find()).to.include({
      module: 'shop',
      status: 403,
      step: 'client',
      reason: 'address',
      client: OUTSIDE,
    });
  });

  it('is explained by the address of the client', async () => {
    const explain = async (query: string) => {
      const target = `/explain?method=GET&target=${encodeURIComponent(ITEMS)}${query}`;
      const { checks, verdict } = parseJson(await call(setup.host, { target })) as {
        checks: { check: string; outcome: string; status: number | null }[];
        verdict: { status: number | null };
      };
      return { ...checks[0], verdict: verdict.status };
    };
    const client = { check: 'client', status: null };
    expect(await explain('')).to.include({ ...client, outcome: 'unknown', verdict: 200 });
    expect(await explain(`&client=${INSIDE}`)).to.include({ ...client, outcome: 'pass' });
    const failed = { check: 'client', outcome: 'fail', status: 403, verdict: 403 };
    expect(await explain(`&client=${OUTSIDE}`)).to.include(failed);
    const target = `/explain?method=GET&target=%2F&client=nobody`;
    expectProblem(await call(setup.host, { target }), 400, 'validation_failed');
  });

  it('is explained for the client of a recorded call', async () => {
    const headers = [['x-request-id', 'again']] as const;
    await from(OUTSIDE, { as: 'dev-service:a:shop.read', headers });
    const answer = await call(setup.host, { target: '/explain?request_id=again&now=true' });
    const { calls } = JSON.parse(answer.body.toString());
    expect(calls[0]).to.include({ client: OUTSIDE, step: 'client' });
  });

  it('is shown by GET /modules', async () => {
    const { modules } = JSON.parse(
      (await call(setup.host, { target: '/modules' })).body.toString(),
    ) as { modules: { name: string; allow?: object }[] };
    const shop = modules.find(({ name }) => name === 'shop');
    expect(shop?.allow).to.deep.equal({ addresses: ['192.0.2.0/24', '2001:db8::/32'] });
    expect(modules.find(({ name }) => name === 'open')).to.not.have.property('allow');
  });
});
