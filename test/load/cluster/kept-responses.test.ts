import { expect } from 'chai';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { CACHE_ROUTES, statusOf } from '../../support/http/use-cache.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const CALLS = 12;
const TARGET = '/modules/shop/http/shared/7';

describe('the kept responses of a host with two workers', () => {
  const setup = useHostProcess(
    ({ url }) => ({ 'shop.json': describeModule('shop', url, CACHE_ROUTES) }),
    { args: ['--workers', '2'] },
  );

  /** Each call has a connection of its own, so that both workers serve. */
  const countHits = async () => {
    const responses = await Promise.all(
      Array.from({ length: CALLS }, () => call(setup.host, { target: TARGET })),
    );
    return responses.filter((response) => statusOf(response)?.startsWith('modgate; hit')).length;
  };
  /** Both workers have it: more than one call of the provider would be needed otherwise. */
  const fill = () => waitUntil('hits of both workers', async () => (await countHits()) === CALLS);
  /** @returns whether some call reached the provider in both workers, so that neither kept the old response */
  const expectBothEmpty = async () => {
    const before = setup.provider.requests.length;
    await waitUntil('a call of each worker', async () => {
      await countHits();
      return setup.provider.requests.length >= before + 2;
    });
  };

  it('are removed in both by a write', async () => {
    await fill();
    await call(setup.host, {
      method: 'PUT',
      target: TARGET,
      headers: [JSON_TYPE],
      body: Buffer.from('1'),
    });
    await expectBothEmpty();
  });

  it('are removed in both by modgate purge', async () => {
    await fill();
    const purged = await call(setup.host, {
      method: 'DELETE',
      target: '/cache?module=shop&path=/shared/*',
      as: 'dev-service:ops:modgate.cache.purge',
    });
    expect(purged.status).to.equal(204);
    await expectBothEmpty();
  });

  it('are counted over both', async () => {
    const metrics = await call(setup.host, { target: '/metrics' });
    expect(metrics.body.toString()).to.match(/modgate_cache_total\{.*result="hit"\} \d\d/);
  });
});
