import { expect } from 'chai';
import { WaitTracker } from '../../../core/cli/wait/wait-tracker.js';
import type { ListedModule } from '../../../core/operations/status/module-struct.js';
import { describeEntry } from '../../support/cli/fake-host.js';

const DIGEST = `sha256:${'d'.repeat(64)}`;
const BY_NAME = 'crm';
const START_MS = Date.parse('2026-01-01T00:00:00Z');

function at(ms: number): string {
  return new Date(START_MS + ms).toISOString();
}

function entry(name: string, overrides: object = {}): ListedModule {
  return describeEntry(name, { since: at(-60_000), ...overrides }) as ListedModule;
}

describe('WaitTracker', () => {
  let nowMs = START_MS;
  const trackerOf = (subject: string) => new WaitTracker(subject, { now: () => nowMs });

  beforeEach(() => {
    nowMs = START_MS;
  });

  const outcomeOf = (tracker: WaitTracker, ...modules: ListedModule[]) =>
    tracker.observe(modules)?.outcome ?? null;

  for (const state of ['refused', 'stale', 'rolled_back']) {
    it(`ends when a module becomes ${state}`, () => {
      for (const subject of [BY_NAME, DIGEST]) {
        const module = entry('crm', { state, since: at(-1900) });
        expect(outcomeOf(trackerOf(subject), module)).to.equal('rejected');
      }
    });
  }

  for (const state of ['waiting', 'disabled', 'draining', 'faulted']) {
    it(`continues while a module is ${state}`, () => {
      const tracker = trackerOf(BY_NAME);
      nowMs += 5000;
      expect(outcomeOf(tracker, entry('crm', { state, since: at(0) }))).to.equal(null);
    });
  }

  it('ignores old rejections when it waits for a digest', () => {
    const tracker = trackerOf(DIGEST);
    const old = entry('other', { state: 'stale', since: at(-2100), reason: 'bad' });
    nowMs += 5000;
    expect(outcomeOf(tracker, old)).to.equal(null);
    expect(outcomeOf(tracker, old)).to.equal(null);
  });

  it('ends when a rejected file is rejected for another reason', () => {
    const tracker = trackerOf(DIGEST);
    const stale = { state: 'stale', since: at(-60_000) };
    expect(outcomeOf(tracker, entry('crm', { ...stale, reason: 'bad' }))).to.equal(null);
    expect(outcomeOf(tracker, entry('crm', { ...stale, reason: 'worse' }))).to.equal('rejected');
  });

  it('ends when a file appears and is rejected', () => {
    const tracker = trackerOf(DIGEST);
    expect(outcomeOf(tracker)).to.equal(null);
    expect(outcomeOf(tracker, entry('crm', { state: 'refused', since: at(-9000) }))).to.equal(
      'rejected',
    );
  });

  it('requires the digest to be live, not only served from a stale file', () => {
    const tracker = trackerOf(DIGEST);
    const module = { digest: DIGEST, state: 'stale' };
    expect(outcomeOf(tracker, entry('crm', module))).to.equal(null);
    nowMs += 1000;
    expect(outcomeOf(tracker, entry('crm', module))).to.equal('rejected');
  });

  it('uses the live one of two files with the same name', () => {
    const duplicate = entry('crm', { state: 'refused', since: at(0), file: 'a.yaml' });
    const end = trackerOf(BY_NAME).observe([duplicate, entry('crm')]);
    expect(end).to.deep.include({ outcome: 'live' });
  });

  it('compares times with the clock of the host', () => {
    const module = entry('other', { state: 'refused', since: at(3_600_000 - 60_000) });
    expect(trackerOf(DIGEST).observe([module], 3_600_000)).to.equal(null);
    expect(trackerOf(DIGEST).observe([module])?.outcome).to.equal('rejected');
  });

  describe('with a host that reports rejected digests', () => {
    const OTHER = `sha256:${'e'.repeat(64)}`;
    const rejection = (overrides: object) =>
      entry('crm', { state: 'stale', since: at(0), rejected_digest: OTHER, ...overrides });

    for (const key of ['rejected_digest', 'rejected_manifest_digest', 'rejected_config_digest']) {
      it(`ends immediately when the digest is rejected as ${key}`, () => {
        expect(outcomeOf(trackerOf(DIGEST), rejection({ [key]: DIGEST }))).to.equal('rejected');
      });
    }

    it('ignores the rejection of another digest, even a new one', () => {
      const tracker = trackerOf(DIGEST);
      nowMs += 5000;
      expect(outcomeOf(tracker, rejection({ rejected_digest: OTHER }))).to.equal(null);
      expect(outcomeOf(tracker, rejection({ rejected_digest: null, reason: 'bad' }))).to.equal(
        null,
      );
    });

    it('rechecks an old rejection of the digest for a second', () => {
      const tracker = trackerOf(DIGEST);
      const old = rejection({ rejected_digest: DIGEST, since: at(-60_000) });
      expect(outcomeOf(tracker, old)).to.equal(null);
      nowMs += 1000;
      expect(outcomeOf(tracker, old)).to.equal('rejected');
    });

    it('ends when the file with the digest is live', () => {
      const live = entry('crm', { file_digest: DIGEST });
      expect(outcomeOf(trackerOf(DIGEST), live)).to.equal('live');
    });
  });
});
