import { expect } from 'chai';
import type { HostSnapshot, ModuleSnapshot } from '../../../core/contract/index.js';
import { Sampler } from '../../../plugins/console/live/sampler.js';

function createModule(name: string, calls: number, failed: number, inFlight = 0): ModuleSnapshot {
  return {
    name,
    file: `${name}.yaml`,
    state: 'live',
    since: '2026-01-31T12:00:00.000Z',
    reason: null,
    hint: null,
    counts: { calls, failed, inFlight, queued: 0 },
    endpoints: [],
    manifestDigest: null,
    configDigest: null,
    manifest: null,
  };
}

const at = (ms: number, ...modules: ModuleSnapshot[]): HostSnapshot => ({
  at: ms,
  workers: 1,
  fleet: null,
  modules,
  ignored: [],
});

describe('the sampler of the console', () => {
  it('counts what happened between two snapshots', () => {
    const sampler = new Sampler();
    expect(sampler.add(at(1, createModule('a', 10, 1)))).to.equal(null);
    const sample = sampler.add(at(2, createModule('a', 15, 3, 2), createModule('b', 4, 0, 1)));
    expect(sample).to.deep.equal({ at: 2, calls: 9, failed: 2, in_flight: 3 });
    expect(sampler.list('a')).to.deep.equal([{ at: 2, calls: 5, failed: 2, in_flight: 2 }]);
    expect(sampler.list('nowhere')).to.deep.equal([]);
  });

  it('begins again with a new version of a module', () => {
    const sampler = new Sampler();
    sampler.add(at(1, createModule('a', 10, 5)));
    expect(sampler.add(at(2, createModule('a', 3, 1)))).to.include({ calls: 3, failed: 1 });
  });

  it('keeps 15 minutes, and forgets modules that were removed', () => {
    const sampler = new Sampler();
    for (let tick = 0; tick < 100; tick += 1) sampler.add(at(tick, createModule('a', tick, 0)));
    expect(sampler.list(null)).to.have.length(90);
    expect(sampler.list(null)[89]).to.include({ at: 99 });
    sampler.add(at(100));
    expect(sampler.list('a')).to.deep.equal([]);
  });
});
