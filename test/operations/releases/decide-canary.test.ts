import { expect } from 'chai';
import { countSince, takeBaseline } from '../../../core/operations/releases/canary-figures.js';
import { decideCanary } from '../../../core/operations/releases/decide-canary.js';
import type { ModuleEntry } from '../../../core/operations/status/module-overview.js';
import type { Canary, ReleaseHost } from '../../../core/store/releases/releases.js';

const RELEASE = `sha256:${'a'.repeat(64)}`;
const CANARY: Canary = {
  release: RELEASE,
  since: '2026-01-05T10:00:00.000Z',
  until: '2026-01-05T10:00:30.000Z',
  hosts: ['host_a', 'host_b'],
  rules: { crm: { min_calls: 10, max_error_rate: 0.1 } },
  allowUnproven: false,
};
const BEFORE = '2026-01-05T10:00:29.999Z';
const AFTER = CANARY.until;

const report = (host: string, calls: number, failed: number, overrides = {}): ReleaseHost => ({
  ...{ host, release: RELEASE, problem: null },
  figures: { release: RELEASE, modules: { crm: { calls, failed } }, rejected: {}, ...overrides },
});

describe('the verdict of a canary', () => {
  it('waits for the time of the store, and sums over its hosts alone', () => {
    const reports = [report('host_a', 5, 0), report('host_b', 5, 1), report('host_c', 90, 90)];
    expect(decideCanary(CANARY, reports, BEFORE)).to.equal(null);
    const verdict = decideCanary(CANARY, reports, AFTER);
    expect(verdict?.outcome).to.equal('released');
    expect(verdict?.modules).to.deep.equal({ crm: { calls: 10, failed: 1 } });
  });

  it('fails at once when the share is exceeded, but not before enough calls', () => {
    const few = [report('host_a', 9, 9)];
    expect(decideCanary(CANARY, few, BEFORE)).to.equal(null);
    const enough = [report('host_a', 9, 1), report('host_b', 1, 1)];
    expect(decideCanary(CANARY, enough, BEFORE)).to.include({
      outcome: 'failed',
      reason: '2 of 10 calls of crm failed, more than the share of 0.1',
    });
  });

  it('fails when a host rejects a module or cannot serve the release', () => {
    const rejecting = report('host_b', 0, 0, { rejected: { crm: 'broken' } });
    expect(decideCanary(CANARY, [rejecting], BEFORE)?.reason)
      .to.include('host_b')
      .and.include('broken');
    const old = {
      host: 'host_a',
      release: null,
      problem: `${RELEASE} requires more`,
      figures: null,
    };
    expect(decideCanary(CANARY, [old], BEFORE)?.outcome).to.equal('failed');
    const earlier = { ...old, problem: `sha256:${'b'.repeat(64)} requires more` };
    expect(decideCanary(CANARY, [earlier], BEFORE)).to.equal(null);
  });

  it('is unproven with too few calls, also when no host has reported', () => {
    expect(decideCanary(CANARY, [report('host_a', 9, 0)], AFTER)?.outcome).to.equal('unproven');
    expect(decideCanary(CANARY, [], AFTER)?.outcome).to.equal('unproven');
    const allowed = { ...CANARY, allowUnproven: true };
    expect(decideCanary(allowed, [], AFTER)?.outcome).to.equal('released');
  });

  it('ignores figures of another release', () => {
    const figures = { release: 'sha256:other', modules: { crm: { calls: 50, failed: 50 } } };
    const stale = { ...report('host_a', 0, 0), figures: { ...figures, rejected: {} } };
    expect(decideCanary(CANARY, [stale], BEFORE)).to.equal(null);
  });
});

describe('the figures of a canary', () => {
  const entry = (overrides: object) =>
    ({
      ...{ name: 'crm', file: 'crm.json', state: 'live', since: 'then', reason: null },
      ...{ rejected_digest: null, rejected_manifest_digest: null, rejected_config_digest: null },
      counts: { calls: 100, failed: 50 },
      ...overrides,
    }) as unknown as ModuleEntry;

  it('begin when the host serves the canary', () => {
    const baseline = takeBaseline(RELEASE, [entry({})], true);
    const now = [entry({ counts: { calls: 107, failed: 51 } }), entry({ name: 'other' })];
    expect(countSince(baseline, now, ['crm'])).to.deep.equal({
      modules: { crm: { calls: 7, failed: 1 } },
      rejected: {},
    });
  });

  it('leave out a rejection that was there before', () => {
    const rejected = entry({ state: 'stale', rejected_digest: 'sha256:1', reason: 'old' });
    const baseline = takeBaseline(RELEASE, [rejected], true);
    expect(countSince(baseline, [rejected], ['crm']).rejected).to.deep.equal({});
    const next = entry({ state: 'stale', rejected_digest: 'sha256:2', reason: 'new' });
    expect(countSince(baseline, [next], ['crm']).rejected).to.deep.equal({ crm: 'new' });
    const started = takeBaseline(RELEASE, [rejected], false);
    expect(countSince(started, [rejected], ['crm']).rejected).to.deep.equal({ crm: 'old' });
  });
});
