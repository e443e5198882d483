import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  type CacheOrigin,
  readCacheCases,
  runCacheCase,
  startCacheOrigin,
} from '../support/http/cache-suite.js';
import { describeModule } from '../support/http/modules.js';
import { type RunningHost, startHost } from '../support/start-host.js';
import { started } from '../support/started.js';

const PAGE = 'docs/benchmarks.md';
const CASES = readCacheCases();
const DAY_MS = 86_400_000;
const HEADERS = ['foo', 'bar', 'baz', 'other'];
/** Headers that a response does not vary by are part of the key too. */
const LOST = ['vary-cache-key'];

describe('the public tests of caches', () => {
  let origin: CacheOrigin | undefined;
  let host: RunningHost | undefined;

  before(async () => {
    origin = await startCacheOrigin(CASES);
    const methods = ['GET', 'POST', 'PUT', 'DELETE'].map((method) => ({
      method,
      path: '/{id}',
      capability: 'shop.use',
      operation: {
        ...(method === 'GET' && { cache: { ttl_ms: DAY_MS, stale_ms: 0, shared: true } }),
        ...(method !== 'GET' && method !== 'DELETE' && { body: 'optional' }),
      },
    }));
    const more = { forward_headers: HEADERS, breaker: { failures: 1000 }, retry: { attempts: 0 } };
    const files = { 'shop.json': describeModule('shop', origin.url, methods, more) };
    host = await startHost({ files });
  });

  after(async () => {
    await host?.stop();
    await origin?.close();
  });

  it('have the results that the table of the docs shows', async () => {
    const { url } = started(host);
    const results = await Promise.all(
      CASES.map(async (cacheCase) => {
        const held = await runCacheCase(cacheCase, started(origin), async (method, headers) => {
          const target = `${url}/modules/shop/http/${cacheCase.id}`;
          const authorization = 'Bearer dev-system:root';
          const response = await fetch(target, { method, headers: { ...headers, authorization } });
          await response.arrayBuffer();
          return response.status;
        });
        return { ...cacheCase, held };
      }),
    );
    expect(results.filter(({ held }) => !held).map(({ id }) => id)).to.deep.equal(LOST);
    const text = readFileSync(PAGE, 'utf8');
    for (const suite of new Set(CASES.map((cacheCase) => cacheCase.suite))) {
      const ofSuite = results.filter((result) => result.suite === suite);
      const held = ofSuite.filter((result) => result.held).length;
      expect(text).to.include(`| \`${suite}\` | ${ofSuite.length} | ${held} |`);
    }
  });
});
