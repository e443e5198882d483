import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { ROOT } from '../../support/http/call.js';
import { statusOf, useCache } from '../../support/http/use-cache.js';
import { waitUntil } from '../../support/http/wait-until.js';

const WAITERS = 8;

describe('concurrent misses of one response', () => {
  const { setup, get, answer, calls } = useCache();
  const getMany = (target: string) =>
    Promise.all(Array.from({ length: WAITERS }, () => get(target)));

  it('make one call', async () => {
    answer({}, { delayMs: 200 });
    const responses = await getMany('shop/own/once');
    expect(calls()).to.equal(1);
    expect(responses.map(({ status }) => status)).to.deep.equal(Array(WAITERS).fill(200));
    const collapsed = responses.filter((response) => statusOf(response)?.includes('; collapsed'));
    expect(collapsed.length).to.equal(WAITERS - 1);
  });

  it('make a call each where the response may not be kept', async () => {
    answer({ 'cache-control': 'no-store' }, { delayMs: 200 });
    await getMany('shop/own/each');
    expect(calls()).to.equal(WAITERS);
  });

  it('make a call each where the provider fails', async () => {
    answer({}, { delayMs: 200, status: 500 });
    const responses = await getMany('shop/own/failed');
    expect(calls()).to.equal(WAITERS);
    expect(responses.map(({ status }) => status)).to.deep.equal(Array(WAITERS).fill(502));
  });

  it('go on when the first of them leaves', async () => {
    answer({}, { delayMs: 500 });
    const connection = await RawConnection.open(setup.host.port);
    connection.write(
      `GET /modules/shop/http/own/left HTTP/1.1\r\nhost: 127.0.0.1:${setup.host.port}\r\n` +
        `authorization: Bearer ${ROOT}\r\nx-request-id: left\r\n\r\n`,
    );
    await waitUntil('the call', () => calls() === 1);
    const waiting = get('shop/own/left');
    connection.destroy();
    await waitUntil('the log line', () =>
      setup.host.logs().some((record) => record['request_id'] === 'left'),
    );
    expect(setup.host.logs().find((record) => record['request_id'] === 'left')).to.include({
      status: 499,
      failure: 'cancelled',
    });
    expect((await waiting).status).to.equal(200);
    expect(calls()).to.equal(1);
  });
});
