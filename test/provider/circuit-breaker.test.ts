import { expect } from 'chai';
import { CircuitBreaker, type Verdict } from '../../core/provider/circuit-breaker.js';
import { waitUntil } from '../support/http/wait-until.js';

const SETTINGS = { failures: 3, openMs: 40, maxOpenMs: 100 };
/** Timers of Node fire up to a millisecond early, and the load of other tests makes them late. */
const EARLY_MS = 2;

const settle = (breaker: CircuitBreaker, ...verdicts: readonly Verdict[]) => {
  for (const verdict of verdicts) breaker.settle(breaker.admit(), verdict);
};
const reopening = (breaker: CircuitBreaker) =>
  waitUntil('the time of the probe', () => breaker.state === 'half_open');

describe('the breaker of an endpoint', () => {
  it('opens after so many failures in a row, and not before', () => {
    const breaker = new CircuitBreaker(SETTINGS);
    settle(breaker, 'failure', 'failure', 'success', 'failure', 'failure');
    expect(breaker.state).to.equal('closed');
    settle(breaker, 'failure');
    expect(breaker.state).to.equal('open');
    expect(breaker.isAdmitting).to.equal(false);
    expect(breaker.waitMs).to.be.within(1, SETTINGS.openMs);
  });

  it('takes no notice of a call that says nothing of the endpoint', () => {
    const breaker = new CircuitBreaker(SETTINGS);
    settle(breaker, 'failure', 'failure', 'neutral', 'failure');
    expect(breaker.state).to.equal('open');
  });

  it('lets one probe through when its time has come, and no call beside it', async () => {
    const breaker = new CircuitBreaker(SETTINGS);
    settle(breaker, 'failure', 'failure', 'failure');
    await reopening(breaker);
    expect(breaker.isAdmitting).to.equal(true);
    const probe = breaker.admit();
    expect(breaker.state).to.equal('half_open');
    expect(breaker.isAdmitting).to.equal(false);
    breaker.settle(probe, 'success');
    expect(breaker.state).to.equal('closed');
    expect(breaker.isAdmitting).to.equal(true);
  });

  it('stays open twice as long after each probe that fails, up to the most', async () => {
    const opened: number[] = [];
    const breaker = new CircuitBreaker(SETTINGS, (state, openMs) => {
      if (state === 'open') opened.push(openMs);
    });
    settle(breaker, 'failure', 'failure', 'failure');
    for (let probe = 0; probe < 2; probe += 1) {
      const from = performance.now();
      await reopening(breaker);
      expect(performance.now() - from).to.be.at.least((opened.at(-1) ?? 0) - EARLY_MS);
      settle(breaker, 'failure');
    }
    expect(opened).to.deep.equal([40, 80, 100]);
  });

  it('starts anew after a probe that succeeds', async () => {
    const opened: number[] = [];
    const breaker = new CircuitBreaker(SETTINGS, (state, openMs) => {
      if (state === 'open') opened.push(openMs);
    });
    settle(breaker, 'failure', 'failure', 'failure');
    await reopening(breaker);
    settle(breaker, 'failure');
    await reopening(breaker);
    settle(breaker, 'success', 'failure', 'failure');
    expect(breaker.state).to.equal('closed');
    settle(breaker, 'failure');
    expect(opened).to.deep.equal([40, 80, 40]);
  });

  it('gives the probe of a caller who has gone to the next call', async () => {
    const breaker = new CircuitBreaker(SETTINGS);
    settle(breaker, 'failure', 'failure', 'failure');
    await reopening(breaker);
    settle(breaker, 'neutral');
    expect(breaker.state).to.equal('half_open');
    expect(breaker.isAdmitting).to.equal(true);
    settle(breaker, 'success');
    expect(breaker.state).to.equal('closed');
  });

  it('believes no call that began before it last changed', async () => {
    const breaker = new CircuitBreaker(SETTINGS);
    const late = [breaker.admit(), breaker.admit(), breaker.admit()] as const;
    settle(breaker, 'failure', 'failure', 'failure');
    breaker.settle(late[0], 'success');
    expect(breaker.state).to.equal('open');
    await reopening(breaker);
    const probe = breaker.admit();
    breaker.settle(late[1], 'failure');
    breaker.settle(late[2], 'success');
    expect(breaker.state).to.equal('half_open');
    breaker.settle(probe, 'success');
    expect(breaker.state).to.equal('closed');
  });
});
