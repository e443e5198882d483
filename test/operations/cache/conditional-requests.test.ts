import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { statusOf, useCache } from '../../support/http/use-cache.js';

const MODIFIED = 'Mon, 05 Oct 2026 10:00:00 GMT';
const LATER = 'Tue, 06 Oct 2026 10:00:00 GMT';
const EARLIER = 'Sun, 04 Oct 2026 10:00:00 GMT';

describe('conditional requests to a route with a cache', () => {
  const { setup, get, answer, calls } = useCache();

  for (const [name, value, status] of [
    ['if-none-match', '"v1"', 304],
    ['if-none-match', '"v0", W/"v1"', 304],
    ['if-none-match', '*', 304],
    ['if-none-match', '"v2"', 200],
    ['if-none-match', '"v1', 200],
    ['if-modified-since', MODIFIED, 304],
    ['if-modified-since', LATER, 304],
    ['if-modified-since', EARLIER, 200],
    ['if-modified-since', 'Tuesday, 06-Oct-26 10:00:00 GMT', 304],
    ['if-modified-since', 'Tue Oct  6 10:00:00 2026', 304],
    ['if-modified-since', 'yesterday', 200],
    ['if-modified-since', '3600', 200],
    ['if-modified-since', '2126-10-06T10:00:00Z', 200],
    ['if-modified-since', 'Tue, 06 Oct 2026 10:00:00 -0500', 200],
  ] as const) {
    it(`are ${status} for ${name}: ${value}, of a kept response and of a new one`, async () => {
      answer({ etag: '"v1"', 'last-modified': MODIFIED });
      const target = `raw/own/${Buffer.from(name + value).toString('hex')}`;
      for (const result of ['fwd=miss', 'hit']) {
        const response = await get(target, { headers: [[name, value]] });
        expect(response.status).to.equal(status);
        expect(statusOf(response)).to.contain(result);
        expect(headerValue(response.headers, 'etag')).to.equal('"v1"');
        expect(response.body.toString()).to.equal(status === 304 ? '' : '{"ok":true}');
      }
      const { headers } = setup.provider.only();
      expect(headers.map(([header]) => header.toLowerCase())).not.to.include(name);
    });
  }

  for (const [condition, validator, values] of [
    ['if-none-match', 'etag', ['v1', "'v1'", 'W/v1', 'w/"v1"', '"v 1"', '"a"v1"']],
    [
      'if-modified-since',
      'last-modified',
      ['2026-10-05T10:00:00Z', 'Mon, 05 Oct 2026 10:00:00 UTC', 'Mon, 5 Oct 2026 10:00:00 GMT'],
    ],
  ] as const) {
    for (const value of values) {
      it(`are 304 for the ${validator} that the provider sent, though not valid: ${value}`, async () => {
        answer({ [validator]: value });
        const target = `raw/own/${Buffer.from(validator + value).toString('hex')}`;
        const statusFor = async (sent: string) =>
          (await get(target, { headers: [[condition, sent]] })).status;
        expect(await statusFor(value)).to.equal(304);
        expect(await statusFor(value)).to.equal(304);
        expect(await statusFor(`${value}0`)).to.equal(200);
        expect(await statusFor('')).to.equal(200);
      });
    }
  }

  it('are 200 for an empty condition and a response without a validator', async () => {
    answer({ etag: '', 'last-modified': '' });
    for (const name of ['if-none-match', 'if-modified-since']) {
      const response = await get(`raw/own/empty-${name}`, { headers: [[name, '']] });
      expect(response.status, name).to.equal(200);
    }
  });

  it('reach the provider where the cache cannot decide them', async () => {
    answer({ etag: '"v1"' });
    await get('raw/own/since', { headers: [['if-unmodified-since', MODIFIED]] });
    await get('raw/own/since', { headers: [['if-unmodified-since', LATER]] });
    expect(calls()).to.equal(2);
  });

  it('have no effect in the envelope', async () => {
    answer({ etag: '"v1"' });
    for (let times = 0; times < 2; times += 1) {
      const response = await get('shop/own/tag', { headers: [['if-none-match', '"v1"']] });
      expect(response.status).to.equal(200);
    }
    expect(calls()).to.equal(1);
  });

  it('keep the time and the privacy of a response in raw mode', async () => {
    answer({ 'cache-control': 'public, max-age=60', age: '10' });
    await get('raw/own/age');
    const hit = await get('raw/own/age');
    expect(headerValue(hit.headers, 'cache-control')).to.equal('private, max-age=60');
    expect(Number(headerValue(hit.headers, 'age'))).to.be.within(10, 20);
  });
});
