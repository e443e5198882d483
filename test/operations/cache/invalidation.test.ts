import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { type Answer, startEchoProvider } from '../../support/echo-provider.js';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { CACHE_ROUTES, statusOf, useCache } from '../../support/http/use-cache.js';
import { waitUntil } from '../../support/http/wait-until.js';

const ALICE = 'dev-service:alice:shop.read,shop.write';
const BOB = 'dev-service:bob:shop.read';

const OK_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

describe('invalidation of kept responses', () => {
  const { setup, get, answer, calls } = useCache();
  const isHit = async (target: string, as = ALICE) =>
    statusOf(await get(target, { as }))?.includes('hit') === true;
  const write = (method: string, target: string) =>
    get(target, {
      method,
      as: ALICE,
      ...(method !== 'DELETE' && {
        headers: [['content-type', 'application/json'] as const],
        body: Buffer.from('{}'),
      }),
    });

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`follows a ${method} of the path, for every query, caller and spelling`, async () => {
      for (const target of ['shop/own/7', 'shop/own/7?x=1', 'shop/own/%37', 'shop/own/8']) {
        await get(target, { as: ALICE });
      }
      await get('shop/own/7', { as: BOB });
      expect((await write(method, 'shop/own/7?y=2')).status).to.equal(200);
      for (const target of ['shop/own/7', 'shop/own/7?x=1', 'shop/own/%37']) {
        expect(await isHit(target), target).to.equal(false);
      }
      expect(await isHit('shop/own/7', BOB)).to.equal(false);
      expect(await isHit('shop/own/8')).to.equal(true);
    });
  }

  it('does not follow a write that failed', async () => {
    await get('shop/own/9', { as: ALICE });
    answer({}, { status: 409 });
    expect((await write('POST', 'shop/own/9')).status).to.equal(502);
    expect(await isHit('shop/own/9')).to.equal(true);
  });

  const LOST = new Map<string, Answer>([
    ['is not JSON', { body: 'not JSON' }],
    ['has another media type', { headers: [['content-type', 'text/html']], body: '<p>' }],
    ['is too long', { body: `"${'x'.repeat(5_000_000)}"` }],
    ['is a redirect', { status: 302, headers: [['location', '/own']], body: null }],
    ['is cut', { raw: [`${OK_HEAD}content-length: 9\r\n\r\n1`] }],
    ['ends before its status line', { raw: [], finally: 'reset' }],
    ['ends within its head', { raw: [OK_HEAD] }],
  ]);

  for (const [what, lost] of LOST) {
    it(`follows a write whose response ${what}`, async () => {
      await get('shop/own/10', { as: ALICE });
      setup.provider.answer(lost);
      expect((await write('POST', 'shop/own/10')).status).to.equal(502);
      answer({});
      expect(await isHit('shop/own/10')).to.equal(false);
    });
  }

  it('follows a write whose client did not wait for the response', async () => {
    await get('shop/own/12', { as: ALICE });
    answer({}, { delayMs: 300 });
    const connection = await RawConnection.open(setup.host.port);
    connection.write(
      `DELETE /modules/shop/http/own/12 HTTP/1.1\r\nhost: 127.0.0.1:${setup.host.port}\r\n` +
        `authorization: Bearer ${ALICE}\r\n\r\n`,
    );
    await waitUntil('the call', () => calls() === 2);
    connection.destroy();
    answer({});
    await waitUntil('the removal', async () => !(await isHit('shop/own/12')));
  });

  it('does not follow a write that was not sent', async () => {
    const gone = await startEchoProvider();
    setup.host.drop('gone.json', describeModule('gone', gone.url, CACHE_ROUTES));
    await waitUntil('the module', async () => {
      return (await get('gone/own/13', { as: ALICE })).status === 200;
    });
    await gone.close();
    expect((await write('PUT', 'gone/own/13')).status).to.equal(502);
    expect(await isHit('gone/own/13')).to.equal(true);
  });

  it('keeps nothing of a call that began before', async () => {
    answer({}, { delayMs: 300, body: '"old"' });
    const slow = get('shop/own/11', { as: ALICE });
    const waiting = get('shop/own/11', { as: ALICE });
    await waitUntil('the call', () => calls() === 1);
    answer({}, { body: '"new"' });
    await write('PUT', 'shop/own/11');
    expect((await slow).body.toString()).to.contain('"old"');
    expect((await waiting).body.toString()).to.contain('"new"');
    expect((await get('shop/own/11', { as: ALICE })).body.toString()).to.contain('"new"');
  });

  const purge = (query: string, as = 'dev-service:ops:modgate.cache.purge') =>
    call(setup.host, { method: 'DELETE', target: `/cache?${query}`, as });

  it('is done by DELETE /cache for a path, all below it, or a module', async () => {
    const kept = ['shop/own/a', 'shop/own/a?x=1', 'shop/own/b', 'shop/shared/a', 'raw/own/a'];
    const hits = async () => {
      const results = [];
      for (const target of kept) if (await isHit(target)) results.push(target);
      return results;
    };
    await hits();
    expect((await purge('module=shop&path=/own/%2561')).status).to.equal(204);
    expect(await hits()).to.deep.equal(['shop/own/b', 'shop/shared/a', 'raw/own/a']);
    expect((await purge('module=shop&path=/own/*')).status).to.equal(204);
    expect(await hits()).to.deep.equal(['shop/shared/a', 'raw/own/a']);
    expect((await purge('module=shop')).status).to.equal(204);
    expect(await hits()).to.deep.equal(['raw/own/a']);
    expect((await purge('module=raw&path=/*')).status).to.equal(204);
    expect(await hits()).to.deep.equal(kept.slice(0, 4));
  });

  it('requires the scope, a module and a path that can be called', async () => {
    expectProblem(await purge('module=shop', 'dev-service:ops:modgate.modules.read'), 403);
    expectProblem(await purge('module=shop', 'dev-user:ann:console.admin'), 403);
    expectProblem(await purge(''), 400);
    expectProblem(await purge('module=nobody'), 404);
    for (const path of ['own', '/own/../a', '/own?x=1', '/own//a', '', '*', '/own/%25zz']) {
      expectProblem(await purge(`module=shop&path=${path}`), 400);
    }
    expectProblem(await call(setup.host, { target: '/cache?module=shop' }), 405);
  });
});
