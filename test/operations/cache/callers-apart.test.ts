import { expect } from 'chai';
import fc from 'fast-check';
import { headerValues } from '../../../core/selftest/raw-http.js';
import { call } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { statusOf } from '../../support/http/use-cache.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';

const TTL_MS = 600_000;
const CACHES = [
  { ttl_ms: TTL_MS },
  { ttl_ms: 1, stale_ms: TTL_MS },
  { ttl_ms: TTL_MS, shared: true },
  { ttl_ms: 1, stale_ms: TTL_MS, shared: true },
  { ttl_ms: TTL_MS, stale_ms: 10, shared: true },
] as const;
const MODULES = {
  plain: {},
  raw: { responses: { mode: 'raw' } },
  identified: { identity: true },
  off: { cache: 'off' },
} as const;

const request = fc.record({
  module: fc.constantFrom(...(Object.keys(MODULES) as (keyof typeof MODULES)[])),
  route: fc.nat(CACHES.length - 1),
  actor: fc.constantFrom('ann', 'bob', 'cat'),
  scopes: fc.constantFrom('shop.use', 'shop.use,shop.more'),
  language: fc.option(fc.constantFrom('de', 'en'), { nil: undefined }),
  cacheControl: fc.constantFrom('', 'no-cache', 'max-stale'),
});

/** The headers of the provider's responses. */
const words = fc.record({
  'cache-control': fc.constantFrom(
    '',
    'public, max-age=60',
    'private, max-age=60',
    'PRIVATE',
    'no-store',
    's-maxage=60',
    'private="x", max-age=60',
    'max-age=60, must-revalidate',
  ),
  vary: fc.constantFrom('', 'accept-language', 'authorization', 'modgate-actor', '*'),
});

describe('the cache', () => {
  const setup = useScriptedProvider((url) =>
    Object.fromEntries(
      Object.entries(MODULES).map(([name, more]) => [
        `${name}.json`,
        describeModule(
          name,
          url,
          CACHES.map((cache, index) => ({
            method: 'GET',
            path: `/${index}/{id}`,
            capability: 'shop.use',
            operation: { cache },
          })),
          more,
        ),
      ]),
    ),
  );

  it('gives no response to another caller or request, unless the route is shared and nothing forbids it', async () => {
    let run = 0;
    const property = fc.asyncProperty(
      words,
      fc.array(request, { minLength: 2, maxLength: 8 }),
      async (responseHeaders, requests) => {
        run += 1;
        setup.answer((request, response) => {
          for (const [name, value] of Object.entries(responseHeaders)) {
            if (value !== '') response.setHeader(name, value);
          }
          response.setHeader('content-type', 'application/json');
          const { 'modgate-actor': actor, 'accept-language': language = '' } = request.headers;
          response.end(JSON.stringify({ actor, language }));
        });
        for (const scripted of requests) {
          const { module, route, actor, scopes, language, cacheControl } = scripted;
          const response = await call(setup.host, {
            target: `/modules/${module}/http/${route}/${run}`,
            as: `dev-service:${actor}:${scopes}`,
            headers: [
              ...(language === undefined ? [] : [['accept-language', language] as const]),
              ...(cacheControl === '' ? [] : [['cache-control', cacheControl] as const]),
            ],
          });
          expect(response.status).to.equal(200);
          expect(headerValues(response.headers, 'cache-status')).to.have.length(1);
          const body = JSON.parse(response.body.toString());
          const actual = module === 'raw' ? body : body.data;
          expect(actual.language).to.equal(language ?? '');
          const { shared = false } = { shared: false, ...CACHES[route] };
          const forbids = /private|no-store/i.test(responseHeaders['cache-control']);
          const varies = responseHeaders.vary === 'modgate-actor' || responseHeaders.vary === '*';
          const mayShare = shared && module !== 'identified' && module !== 'off';
          if (!mayShare || forbids || varies) {
            expect(actual.actor, JSON.stringify({ one: scripted, said: responseHeaders })).to.equal(
              `service:${actor}`,
            );
          }
          const isNeverKept = module === 'off' || responseHeaders['cache-control'] === 'no-store';
          if (isNeverKept || responseHeaders.vary === '*') {
            expect(statusOf(response)).to.not.match(/hit|stored|collapsed/);
          }
        }
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
