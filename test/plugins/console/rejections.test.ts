import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../core/selftest/raw-http.js';
import { callConsole, OPS, SAME_ORIGIN, signIn } from '../../support/console/console-client.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'shop.read' }];
const PLAIN = 'dev-service:ann:other';

describe('a request that the console rejects', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
  }));
  let number = 0;

  const recordsOf = async (request: Parameters<typeof callConsole>[1]) => {
    number += 1;
    const id = `console-${number}`;
    const headers: readonly RawHeader[] = [
      ['x-request-id', id],
      ...(request.headers ?? [SAME_ORIGIN]),
    ];
    await callConsole(setup.host, { ...request, headers });
    const target = `/calls?request_id=${id}`;
    const { calls } = parseJson(await call(setup.host, { target, as: OPS }));
    return calls as Record<string, unknown>[];
  };
  const signInWith = (token: string) =>
    recordsOf({ method: 'POST', path: '/session', body: { token } });

  it('says why a sign-in failed', async () => {
    const [record] = await signInWith('nonsense');
    expect(record).to.deep.include({ code: 'unauthorized', step: 'actor', reason: 'unknown' });
  });

  it('reports a missing session, or an unknown one of the cookie', async () => {
    const [missing] = await recordsOf({ path: '/session' });
    expect(missing).to.deep.include({ step: 'actor', reason: 'missing' });
    const cookie = `modgate=${'A'.repeat(43)}`;
    const [unknown] = await recordsOf({ path: '/session', cookie });
    expect(unknown).to.deep.include({ step: 'actor', reason: 'unknown' });
  });

  it('names the origin of a page that may not make the request', async () => {
    const headers: readonly RawHeader[] = [JSON_TYPE, ['origin', 'https://evil.example']];
    const request = { method: 'POST', path: '/session', body: { token: OPS }, headers };
    const [record] = await recordsOf(request);
    expect(record).to.deep.include({
      code: 'forbidden',
      step: 'origin',
      reason: 'site',
      origin: 'https://evil.example',
    });
  });

  it('names the scope that a page lacks', async () => {
    const cookie = await signIn(setup.host, PLAIN);
    const [record] = await recordsOf({ path: '/samples', cookie });
    expect(record).to.deep.include({ code: 'forbidden', step: 'capability' });
  });

  it('has the record of the request behind it alone', async () => {
    const cookie = await signIn(setup.host, PLAIN);
    const records = await recordsOf({ path: '/modules/shop/http/items', cookie });
    expect(records).to.have.length(1);
    expect(records[0]).to.deep.include({ module: 'shop', step: 'capability', surface: 'console' });
  });
});

describe('the rate of an actor', () => {
  const setup = useHost(() => ({}), { args: ['--actor-rate', '0.001', '--actor-burst', '4'] });

  it('counts sign-ins to the console, for each actor', async () => {
    const send = (token: string) =>
      callConsole(setup.host, { method: 'POST', path: '/session', body: { token } });
    for (let count = 0; count < 4; count += 1) {
      expect((await send('dev-user:ann')).status).to.equal(204);
    }
    const rejected = await send('dev-user:ann');
    expect(rejected.status).to.equal(429);
    expect(parseJson(rejected)).to.deep.include({ code: 'rate_limited' });
    expect(headerValue(rejected.headers, 'retry-after')).to.match(/^\d+$/);
    expect((await send('dev-user:bob')).status).to.equal(204);
  });

  it("counts requests that the console answers itself, and the host's own once", async () => {
    const cookie = await signIn(setup.host, OPS.replace('ops', 'cleo'));
    const get = async (path: string) => (await callConsole(setup.host, { path, cookie })).status;
    expect(await get('/session')).to.equal(200);
    expect(await get('/modules')).to.equal(200);
    expect(await get('/samples')).to.equal(200);
    for (const path of ['/session', '/modules', '/samples', '/events', '/sessions']) {
      expect(await get(path), path).to.equal(429);
    }
  });
});
