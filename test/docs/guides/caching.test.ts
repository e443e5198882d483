import { expect } from 'chai';
import { parse } from 'yaml';
import { readDocumentedBlocks } from '../../support/docs/documented-commands.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { statusOf } from '../../support/http/use-cache.js';
import { useHost } from '../../support/http/use-host.js';

const PAGE = 'docs/call/caching.md';
const MANIFEST = readDocumentedBlocks(PAGE).find((block) => block.kind === 'yaml')?.body ?? '';

describe(PAGE, () => {
  const { http_routes } = parse(MANIFEST) as { readonly http_routes: readonly RouteOptions[] };
  const setup = useHost(({ url }) => ({ 'shop.json': describeModule('shop', url, http_routes) }));
  const get = (path: string, actor: string) =>
    call(setup.host, {
      target: `/modules/shop/http${path}`,
      as: `dev-service:${actor}:shop.read,shop.write`,
    });

  it('declares routes that keep responses for all callers and for each, until a write', async () => {
    expect(statusOf(await get('/prices/7', 'ann'))).to.equal('modgate; fwd=miss; stored; ttl=60');
    expect(statusOf(await get('/prices/7', 'bob'))).to.match(/^modgate; hit; ttl=\d+$/);
    expect(statusOf(await get('/basket', 'ann'))).to.contain('stored');
    expect(statusOf(await get('/basket', 'bob'))).to.contain('stored');
    const target = '/modules/shop/http/prices/7';
    await call(setup.host, { method: 'PUT', target, headers: [JSON_TYPE], body: Buffer.from('1') });
    expect(statusOf(await get('/prices/7', 'ann'))).to.contain('stored');
  });
});
