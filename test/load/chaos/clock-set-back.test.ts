import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { ExpiringCache } from '../../../core/lib/expiring-cache.js';
import { retryContended } from '../../../core/store/retry-contended.js';

const DAY_MS = 86_400_000;
/** What would go on for a day has gone on for long enough. */
const LONG_MS = 15_000;

describe('a clock that is set back by a day', () => {
  const readClock = Date.now;
  const setBack = () => {
    Date.now = () => readClock() - DAY_MS;
  };

  afterEach(() => {
    Date.now = readClock;
  });

  it('keeps nothing in a cache for longer than it was to be there', async () => {
    const cache = new ExpiringCache<string>(10);
    cache.set('token', 'actor', Date.now() + 400);
    setBack();
    expect(cache.get('token')).to.equal('actor');
    const from = performance.now();
    while (cache.get('token') !== undefined && performance.now() - from < LONG_MS) await pause(20);
    expect(cache.get('token')).to.equal(undefined);
  });

  it('does not make a contended store try on and on', async () => {
    const from = performance.now();
    const contended = new Error('contended');
    const work = () => {
      setBack();
      const isOver = performance.now() - from > LONG_MS;
      return Promise.reject(isOver ? new Error('it tries on and on') : contended);
    };
    const ended = await retryContended(work, (error) => error === contended).catch(
      (error: Error) => error.message,
    );
    expect(ended).to.equal('contended');
  });
});
