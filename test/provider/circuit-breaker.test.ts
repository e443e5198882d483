import { expect } from 'chai';
import { ProviderFailure } from '../../core/contract/index.js';
import {
  type BreakerVerdict,
  CircuitBreaker,
  VERDICTS,
  verdictOfFailure,
} from '../../core/provider/circuit-breaker.js';
import { waitUntil } from '../support/http/wait-until.js';

const SETTINGS = { failures: 3, ratio: 0.5, window_ms: 60_000, open_ms: 40, max_open_ms: 100 };
/** Open for longer than any test. */
const LONG = { ...SETTINGS, open_ms: 600_000, max_open_ms: 600_000 };
/** Node's timers fire up to a millisecond early. */
const EARLY_MS = 2;
const FAILURES = ['failure', 'failure', 'failure'] as const;

const settle = (breaker: CircuitBreaker, ...verdicts: readonly BreakerVerdict[]) => {
  for (const verdict of verdicts) breaker.settle(breaker.admit(), verdict);
};
const halfOpen = (breaker: CircuitBreaker) =>
  waitUntil('the breaker is half-open', () => breaker.state === 'half_open');

describe('circuit breaker', () => {
  it('opens after the minimum number of failures, and not before', () => {
    const breaker = new CircuitBreaker(LONG);
    settle(breaker, 'failure', 'failure');
    expect(breaker.state).to.equal('closed');
    settle(breaker, 'failure');
    expect(breaker.state).to.equal('open');
    expect(breaker.isAdmitting()).to.equal(false);
    expect(breaker.waitMs()).to.be.within(1, LONG.open_ms);
  });

  it('counts failures between successes', () => {
    const breaker = new CircuitBreaker(LONG);
    settle(breaker, 'failure', 'failure', 'success', 'failure');
    expect(breaker.state).to.equal('open');
  });

  it('stays closed while failures are below the ratio, and opens at it', () => {
    const breaker = new CircuitBreaker(LONG);
    settle(
      breaker,
      ...Array<BreakerVerdict>(10).fill('success'),
      ...Array<BreakerVerdict>(9).fill('failure'),
    );
    expect(breaker.state).to.equal('closed');
    settle(breaker, 'failure');
    expect(breaker.state).to.equal('open');
  });

  it('ignores calls that left the window', async () => {
    const windowMs = 100;
    const breaker = new CircuitBreaker({ ...SETTINGS, window_ms: windowMs });
    const from = performance.now();
    settle(breaker, 'failure', 'failure');
    await waitUntil('the window is over', () => performance.now() - from > windowMs);
    settle(breaker, 'failure');
    expect(breaker.state).to.equal('closed');
  });

  it('does not count neutral calls', () => {
    const breaker = new CircuitBreaker(LONG);
    settle(breaker, ...Array<BreakerVerdict>(10).fill('neutral'), 'failure', 'failure', 'neutral');
    expect(breaker.state).to.equal('closed');
    settle(breaker, 'failure');
    expect(breaker.state).to.equal('open');
  });

  it('admits one probe at a time when half-open', async () => {
    const breaker = new CircuitBreaker(SETTINGS);
    settle(breaker, 'failure', 'failure', 'failure');
    await halfOpen(breaker);
    expect(breaker.isAdmitting()).to.equal(true);
    const probe = breaker.admit();
    expect(breaker.state).to.equal('half_open');
    expect(breaker.isAdmitting()).to.equal(false);
    breaker.settle(probe, 'success');
    expect(breaker.state).to.equal('closed');
    expect(breaker.isAdmitting()).to.equal(true);
  });

  it('doubles the open time after each failed probe, up to the maximum', async () => {
    const opened: number[] = [];
    const breaker = new CircuitBreaker(SETTINGS, (state, openMs) => {
      if (state === 'open') opened.push(openMs);
    });
    for (let probe = 0; probe < 3; probe += 1) {
      const from = performance.now();
      settle(breaker, ...(probe === 0 ? FAILURES : FAILURES.slice(0, 1)));
      await halfOpen(breaker);
      expect(performance.now() - from).to.be.at.least((opened.at(-1) ?? 0) - EARLY_MS);
    }
    expect(opened).to.deep.equal([40, 80, 100]);
  });

  it('starts with an empty window after a successful probe', async () => {
    const opened: number[] = [];
    const breaker = new CircuitBreaker(SETTINGS, (state, openMs) => {
      if (state === 'open') opened.push(openMs);
    });
    settle(breaker, 'failure', 'failure', 'failure');
    await halfOpen(breaker);
    settle(breaker, 'failure');
    await halfOpen(breaker);
    settle(breaker, 'success', 'failure', 'failure');
    expect(breaker.state).to.equal('closed');
    settle(breaker, 'failure');
    expect(opened).to.deep.equal([40, 80, 40]);
  });

  it('admits another probe after a neutral one', async () => {
    const breaker = new CircuitBreaker(SETTINGS);
    settle(breaker, 'failure', 'failure', 'failure');
    await halfOpen(breaker);
    settle(breaker, 'neutral');
    expect(breaker.state).to.equal('half_open');
    expect(breaker.isAdmitting()).to.equal(true);
    settle(breaker, 'success');
    expect(breaker.state).to.equal('closed');
  });

  it('ignores calls that were admitted in an earlier state', async () => {
    const breaker = new CircuitBreaker(SETTINGS);
    const late = [breaker.admit(), breaker.admit(), breaker.admit()] as const;
    settle(breaker, 'failure', 'failure', 'failure');
    breaker.settle(late[0], 'success');
    expect(breaker.state).not.to.equal('closed');
    await halfOpen(breaker);
    const probe = breaker.admit();
    breaker.settle(late[1], 'failure');
    breaker.settle(late[2], 'success');
    expect(breaker.state).to.equal('half_open');
    breaker.settle(probe, 'success');
    expect(breaker.state).to.equal('closed');
  });
});

describe('verdict on a failure with a status', () => {
  const verdictOf = (status: number) =>
    verdictOfFailure(new ProviderFailure('status', 'the call ended', { status }));

  it('is a failure of the route from 500 on, and none below', () => {
    expect(verdictOf(500)).to.equal(VERDICTS.serverError);
    expect(verdictOf(404)).to.equal(VERDICTS.unusable);
  });
});
