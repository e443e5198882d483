import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { CACHE_ROUTES, statusOf, useCache } from '../../support/http/use-cache.js';
import { waitUntil } from '../../support/http/wait-until.js';

const ALICE = 'dev-service:alice:shop.read,shop.write';
const BOB = 'dev-service:bob:shop.read,shop.write';

describe('kept responses', () => {
  const { setup, get, answer, calls } = useCache();

  it('are given without a call of the provider', async () => {
    answer({}, { body: '{"n":1}' });
    const first = await get('shop/own/first');
    const second = await get('shop/own/first');
    expect(statusOf(first)).to.equal('modgate; fwd=miss; stored; ttl=3600');
    expect(statusOf(second)).to.match(/^modgate; hit; ttl=3[56]\d\d$/);
    expect(headerValue(second.headers, 'age')).to.match(/^\d$/);
    expect(second.body.toString()).to.equal(first.body.toString());
    expect(parseJson(second)['data']).to.deep.equal({ n: 1 });
    expect(calls()).to.equal(1);
  });

  it('are kept no longer after the clock was set back', async () => {
    await get('shop/own/clock');
    const readClock = Date.now;
    Date.now = () => readClock() - 86_400_000;
    try {
      expect(statusOf(await get('shop/own/clock'))).to.match(/^modgate; hit; ttl=3[56]\d\d$/);
    } finally {
      Date.now = readClock;
    }
  });

  it('are of one target, byte for byte', async () => {
    for (const target of ['a?x=1', 'a?x=2', 'a', 'a?', '%61']) await get(`shop/own/${target}`);
    expect(calls()).to.equal(5);
  });

  it('are of one caller', async () => {
    await get('shop/own/caller', { as: ALICE });
    await get('shop/own/caller', { as: BOB });
    expect(calls()).to.equal(2);
  });

  it('are of one set of scopes', async () => {
    await get('shop/own/scopes', { as: ALICE });
    await get('shop/own/scopes', { as: 'dev-service:alice:shop.read' });
    await get('shop/own/scopes', { as: 'dev-service:alice:shop.write,shop.read' });
    expect(calls()).to.equal(2);
  });

  it('are of all callers where the route says so', async () => {
    await get('shop/shared/all', { as: ALICE });
    expect(statusOf(await get('shop/shared/all', { as: BOB }))).to.contain('hit');
    expect(calls()).to.equal(1);
  });

  it('belong to one caller if the provider receives the identity of the caller', async () => {
    await get('known/shared/all', { as: ALICE });
    await get('known/shared/all', { as: BOB });
    expect(calls()).to.equal(2);
  });

  it('are of one set of headers that the provider gets', async () => {
    for (const headers of [
      [],
      [['accept-language', 'de']],
      [['accept-language', 'en']],
      [['x-tenant', 'a']],
      [['prefer', 'x']],
    ] as const) {
      await get('shop/shared/headers', { headers });
    }
    expect(calls()).to.equal(5);
    const others = [
      ['x-request-id', 'other'],
      ['x-unknown', 'y'],
    ] as const;
    expect(statusOf(await get('shop/shared/headers', { headers: others }))).to.contain('hit');
  });

  it('reach only callers with the right to call', async () => {
    await get('shop/shared/rights');
    expect((await get('shop/shared/rights', { as: null })).status).to.equal(401);
    const denied = await get('shop/shared/rights', { as: 'dev-service:eve:other' });
    expect(denied.status).to.equal(403);
    expect(statusOf(denied)).to.equal(undefined);
  });

  it('are not kept for a module whose cache is off', async () => {
    expect(statusOf(await get('off/own/1'))).to.equal('modgate; fwd=bypass');
    await get('off/own/1');
    expect(calls()).to.equal(2);
  });

  it('are not kept for a route without a cache', async () => {
    expect(statusOf(await get('shop/plain/1'))).to.equal(undefined);
    await get('shop/plain/1');
    expect(calls()).to.equal(2);
  });

  for (const [title, headers] of [
    ['set-cookie', { 'set-cookie': 'a=b' }],
    ['vary: *', { vary: 'accept, *' }],
    ['vary by what is no part of the key', { vary: 'X-Request-Id' }],
    ['no-store', { 'cache-control': 'max-age=60, No-Store' }],
    ['private, for a shared route', { 'cache-control': 'Private, max-age=60' }],
    ['max-age=0', { 'cache-control': 'max-age=0' }],
    ['expires in the past', { expires: 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    ['expires in seconds', { expires: '3600' }],
    ['expires in another format', { expires: '2126-10-21T07:28:00Z' }],
    ['no-cache', { 'cache-control': 'no-cache' }],
    ['a semicolon behind no-store', { 'cache-control': 'no-store; max-age=60' }],
    ['a semicolon behind private', { 'cache-control': 'private; max-age=60' }],
    ['a blank between directives', { 'cache-control': 'max-age=60 no-store' }],
    ['a quoted directive', { 'cache-control': 'max-age=60, "no-store"' }],
    ['a quote that does not end', { 'cache-control': 'max-age=60, x="no-store' }],
    ['two values of max-age', { 'cache-control': 'max-age=0, max-age=60' }],
    ['a semicolon in vary', { vary: 'x-request-id; accept' }],
    ['an age above max-age', { 'cache-control': 'max-age=60', age: '61' }],
  ] as const) {
    it(`are none with ${title}`, async () => {
      answer(headers);
      const target = `shop/shared/${encodeURIComponent(title).replaceAll('%', '')}`;
      expect(statusOf(await get(target))).to.equal('modgate; fwd=miss');
      await get(target);
      expect(calls()).to.equal(2);
    });
  }

  for (const value of ['max-age=60, , Max-Age=60', ',public', 'max-age="60", x="a;b"', '']) {
    it(`are kept with cache-control '${value}'`, async () => {
      answer({ 'cache-control': value });
      const target = `shop/shared/kept-${Buffer.from(value).toString('hex')}`;
      expect(statusOf(await get(target))).to.contain('stored');
      expect(statusOf(await get(target))).to.contain('hit');
    });
  }

  it('vary by the caller only where each has its own', async () => {
    answer({ vary: 'modgate-actor' });
    for (const path of ['shared', 'shared', 'own', 'own']) await get(`shop/${path}/vary-actor`);
    expect(calls()).to.equal(3);
  });

  for (const status of [201, 204, 404, 500]) {
    it(`are none with ${status}`, async () => {
      answer({}, { status, ...(status === 204 && { body: null }) });
      await get(`shop/own/status-${status}`);
      await get(`raw/own/status-${status}`);
      await get(`shop/own/status-${status}`);
      await get(`raw/own/status-${status}`);
      expect(calls()).to.equal(4);
    });
  }

  it('are not kept beyond 1 MiB', async () => {
    for (const [length, expected] of [
      [1_048_576, 1],
      [1_048_577, 2],
    ] as const) {
      setup.provider.reset();
      answer({}, { body: `"${'x'.repeat(length - 2)}"` });
      await get(`shop/own/length-${length}`);
      await get(`shop/own/length-${length}`);
      expect(calls(), `${length} bytes`).to.equal(expected);
    }
  });

  it('are private to a caller although the provider says private', async () => {
    answer({ 'cache-control': 'private, max-age=60' });
    await get('shop/own/private', { as: ALICE });
    expect(statusOf(await get('shop/own/private', { as: ALICE }))).to.contain('hit');
  });

  it('are fresh no longer than the provider allows', async () => {
    answer({ 'cache-control': 'max-age=60', age: '20' });
    expect(statusOf(await get('shop/own/shorter'))).to.equal('modgate; fwd=miss; stored; ttl=40');
    const hit = await get('shop/own/shorter');
    expect(Number(headerValue(hit.headers, 'age'))).to.be.within(20, 30);
  });

  it('are not younger than they are for a provider whose age is negative', async () => {
    answer({ 'cache-control': 'max-age=60', age: '-30' });
    expect(statusOf(await get('shop/own/negative'))).to.equal('modgate; fwd=miss; stored; ttl=60');
    expect(headerValue((await get('shop/own/negative')).headers, 'age')).to.match(/^\d+$/);
  });

  it('are fetched again once they are neither fresh nor stale', async () => {
    await get('shop/gone/1');
    await waitUntil('a second call', async () => {
      await get('shop/gone/1');
      return calls() > 1;
    });
  });

  it('are given while a new one is fetched, and while the provider fails', async () => {
    answer({}, { body: '1' });
    await get('shop/short/1');
    answer({}, { body: '2' });
    await waitUntil('the new response', async () => {
      const response = await get('shop/short/1');
      expect(response.status).to.equal(200);
      return parseJson(response)['data'] === 2;
    });
    answer({}, { status: 503 });
    const before = calls();
    await waitUntil('a failed call', async () => {
      const response = await get('shop/short/1');
      expect(parseJson(response)['data']).to.equal(2);
      expect(statusOf(response)).to.match(/^modgate; hit; ttl=-?\d+$/);
      return calls() > before;
    });
  });

  it('are void once the provider says that there is nothing', async () => {
    await get('shop/short/void');
    answer({}, { status: 404 });
    await waitUntil('the error', async () => (await get('shop/short/void')).status === 502);
  });

  it('say in a Problem that the provider was called', async () => {
    answer({}, { status: 500 });
    const response = await get('shop/own/problem');
    expect(response.status).to.equal(502);
    expect(statusOf(response)).to.equal('modgate; fwd=miss');
  });

  it('are forgotten when the descriptor calls the provider in another way', async () => {
    await get('known/own/version');
    const changed = describeModule('known', setup.provider.url, CACHE_ROUTES);
    setup.host.drop('known.json', changed);
    await waitUntil('a call of the new version', async () => {
      await get('known/own/version');
      return calls() > 1;
    });
  });

  it('are given to HEAD', async () => {
    await get('shop/own/head');
    const head = await get('shop/own/head', { method: 'HEAD' });
    expect(statusOf(head)).to.contain('hit');
    expect(head.body).to.have.length(0);
    await get('raw/own/head', { method: 'HEAD' });
    expect(statusOf(await get('raw/own/head'))).to.contain('fwd=miss; stored');
    expect(statusOf(await get('raw/own/head', { method: 'HEAD' }))).to.contain('hit');
  });

  it('are named in the records of calls, and where calls are explained', async () => {
    const id = 'kept-recorded';
    const headers = [['x-request-id', id]] as const;
    for (const target of ['shop/own/recorded', 'shop/own/recorded', 'off/own/1', 'shop/plain/1']) {
      await get(target, { headers });
    }
    for (const route of ['calls', 'explain']) {
      const target = `/${route}?request_id=${id}`;
      const read = async () =>
        parseJson(await call(setup.host, { target }))['calls'] as Record<string, unknown>[];
      await waitUntil('four records', async () => (await read()).length === 4);
      const results = (await read()).map(({ cache, attempts }) => ({ cache, attempts }));
      expect(results).to.deep.equal([
        { cache: undefined, attempts: 1 },
        { cache: 'bypass', attempts: 1 },
        { cache: 'hit', attempts: 0 },
        { cache: 'miss', attempts: 1 },
      ]);
    }
  });

  it('are counted by what the cache did', async () => {
    const metrics = await call(setup.host, { target: '/metrics' });
    const text = metrics.body.toString();
    expect(text).to.match(
      /modgate_cache_total\{module="shop",route="\/own\/\{id\}",result="hit"\} \d/,
    );
    expect(Number(/modgate_cache_bytes (\d+)/.exec(text)?.[1])).to.be.greaterThan(1_048_576);
  });
});
