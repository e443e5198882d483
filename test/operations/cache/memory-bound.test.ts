import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { statusOf, useCache } from '../../support/http/use-cache.js';

const MAX_BYTES = 65_536;
const BODY = JSON.stringify('x'.repeat(8192));

describe('the memory of kept responses', () => {
  const { setup, get, answer, calls } = useCache(['--cache-bytes', '64KiB']);
  const isHit = async (target: string) => statusOf(await get(target))?.includes('hit') === true;
  const readBytes = async () => {
    const { body } = await call(setup.host, { target: '/metrics' });
    return Number(/^modgate_cache_bytes (\d+)$/m.exec(body.toString())?.[1]);
  };

  it('is bounded by --cache-bytes, and the least recently used is removed', async () => {
    answer({}, { body: BODY });
    await get('shop/own/used');
    for (let index = 0; index < 20; index += 1) {
      await get(`shop/own/many-${index}`);
      expect(await isHit('shop/own/used')).to.equal(true);
      expect(await readBytes()).to.be.at.most(MAX_BYTES);
    }
    expect(await readBytes()).to.be.above(MAX_BYTES / 2);
    expect(await isHit('shop/own/many-19')).to.equal(true);
    expect(await isHit('shop/own/many-0')).to.equal(false);
  });

  it('has no room for a response that is longer', async () => {
    answer({}, { body: JSON.stringify('x'.repeat(MAX_BYTES)) });
    expect(statusOf(await get('shop/own/long'))).to.equal('modgate; fwd=miss');
    expect(statusOf(await get('shop/own/long'))).to.equal('modgate; fwd=miss');
    expect(calls()).to.equal(2);
    expect(await readBytes()).to.be.at.most(MAX_BYTES);
  });

  it('counts the headers of responses too', async () => {
    const target = '/cache?module=shop';
    await call(setup.host, { method: 'DELETE', target, as: 'dev-service:ops:modgate.cache.purge' });
    const before = await readBytes();
    answer({ 'x-long': 'x'.repeat(6000) });
    await get('shop/own/headers');
    expect((await readBytes()) - before).to.be.above(6000);
  });
});

describe('a host with --cache-bytes 0', () => {
  const { get, calls } = useCache(['--cache-bytes', '0']);

  it('keeps nothing', async () => {
    for (let count = 0; count < 2; count += 1) {
      expect(statusOf(await get('shop/own/1'))).to.equal('modgate; fwd=bypass');
    }
    expect(calls()).to.equal(2);
  });
});
