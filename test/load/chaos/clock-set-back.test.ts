import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { ActorCache } from '../../../core/auth/actor-cache.js';
import { retryContended } from '../../../core/store/retry-contended.js';

const DAY_MS = 86_400_000;
const LONG_MS = 15_000;

describe('wall clock that is set back by a day', () => {
  const readClock = Date.now;
  const setBack = () => {
    Date.now = () => readClock() - DAY_MS;
  };

  afterEach(() => {
    Date.now = readClock;
  });

  it('does not extend the expiry of a cached actor', async () => {
    const cache = new ActorCache();
    const actor = { kind: 'service', id: 'billing', scopes: new Set<string>() } as const;
    cache.set('token', { actor, expiresAt: Date.now() + 400 }, DAY_MS);
    setBack();
    expect(cache.get('token')).to.equal(actor);
    const from = performance.now();
    while (cache.get('token') !== undefined && performance.now() - from < LONG_MS) await pause(20);
    expect(cache.get('token')).to.equal(undefined);
  });

  it('does not extend the retries of a contended store', async () => {
    const from = performance.now();
    const contended = new Error('contended');
    const work = () => {
      setBack();
      const isOver = performance.now() - from > LONG_MS;
      return Promise.reject(isOver ? new Error('still retrying') : contended);
    };
    const ended = await retryContended(work, (error) => error === contended).catch(
      (error: Error) => error.message,
    );
    expect(ended).to.equal('contended');
  });
});
