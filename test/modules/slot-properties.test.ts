import { expect } from 'chai';
import fc from 'fast-check';
import type { ModuleState } from '../../core/modules/module-record.js';
import {
  type Content,
  digestOf,
  INVALID,
  manifestOf,
  SlotModel,
} from '../support/reload/slot-model.js';

const CONTENTS: readonly Content[] = [
  { digest: 'a' },
  { digest: 'b', isOnProbation: true },
  { digest: 'c', isOnProbation: true },
  { digest: 'd', isRemote: true },
  { digest: 'e', isRemote: true, isOnProbation: true },
];
const SERVING: ReadonlySet<ModuleState> = new Set(['live', 'stale', 'rolled_back']);
const NOT_SERVING: ReadonlySet<ModuleState> = new Set(['refused', 'disabled', 'draining']);

type Action = (slot: SlotModel) => void;

const contents = fc.constantFrom(...CONTENTS);
const digests = contents.map(({ digest }) => digest);
const actions: fc.Arbitrary<Action> = fc.oneof(
  fc.tuple(contents, fc.boolean()).map(
    ([content, asksAgain]): Action =>
      (slot) =>
        slot.write(content, null, asksAgain),
  ),
  contents.map(
    (content): Action =>
      (slot) =>
        slot.write(content, 'other.yaml'),
  ),
  fc.constant<Action>((slot) => slot.write(INVALID)),
  contents.map(
    (content): Action =>
      (slot) =>
        slot.write({ ...content, isEnabled: false }),
  ),
  {
    weight: 4,
    arbitrary: fc.constantFrom('opened', 'opened', 'openFailed', 'faulty').map(
      (result): Action =>
        (slot) =>
          slot.finishOpening(result),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('loaded', 'changed', 'unavailable', 'invalid'), fc.boolean())
      .map(([result, isKept]): Action => {
        return (slot) => slot.answerManifest(result, isKept ? manifestOf('kept') : null);
      }),
  },
  fc.nat(9).map(
    (index): Action =>
      (slot) =>
        slot.fireTimer(index),
  ),
  fc.constantFrom('too many errors', null).map((failure): Action => {
    return (slot) => slot.endProbation(failure);
  }),
  fc.nat(9).map((index): Action => {
    return (slot) => slot.throwIn(slot.versions[index % Math.max(1, slot.versions.length)]);
  }),
  digests.map((digest): Action => {
    return (slot) => slot.send({ kind: 'rejectedElsewhere', digest, reason: 'elsewhere' });
  }),
  fc.constant<Action>((slot) => slot.send({ kind: 'lastGoodLost' })),
);
const histories = fc.array(actions, { maxLength: 60, size: 'max' });

/** Runs a history, and checks the slot before and after each action. */
function check(
  property: (slot: SlotModel, before: SlotModel['state']) => void,
  isAlsoEnded = false,
): void {
  fc.assert(
    fc.property(histories, fc.constantFrom('removed', 'closed'), (history, end) => {
      const slot = new SlotModel();
      for (const act of history) {
        const before = slot.state;
        act(slot);
        property(slot, before);
      }
      if (!isAlsoEnded) return;
      const before = slot.state;
      slot.end(end);
      slot.finishOpening();
      property(slot, before);
    }),
    { numRuns: 300 },
  );
}

describe('a slot in any sequence of events', () => {
  it('serves a version until another one is ready', () => {
    check(({ state, served, open }, before) => {
      expect(served).to.equal(state.serving);
      if (served !== null) expect(open).to.include(served.version);
      if (before.serving === null || state.serving !== null) return;
      const isRejected = state.opening?.for === 'fallback' && digestOf(before.pending) !== null;
      expect(state.published.state === 'disabled' || isRejected).to.equal(true);
    });
  });

  it('never loses a good version to a file that is rejected', () => {
    check((slot) => {
      const { serving } = slot.state;
      if (serving === null || slot.state.opening !== null) return;
      slot.write(INVALID).finishOpening('openFailed');
      expect(slot.served?.version).to.equal(slot.state.serving?.version);
      expect(slot.served).to.not.equal(null);
    });
  });

  it('opens one version at a time, and waits for each of them', () => {
    check(({ state, opening }) => expect(state.opening === null).to.equal(opening === null));
  });

  it('closes each version exactly once', () => {
    check(({ state, open }) => {
      const { serving, previous, pending, fault } = state;
      const held = [serving?.version, previous?.version, pending, fault?.version];
      const expected = state.isEnded ? [] : held.flatMap((version) => version ?? []);
      expect(open).to.have.members([...new Set(expected)]);
    }, true);
  });

  it('serves in the states that say so, and only in them', () => {
    check(({ state, served }) => {
      const { state: name } = state.published;
      if (SERVING.has(name)) expect(served, name).to.not.equal(null);
      if (NOT_SERVING.has(name) && state.opening === null) expect(served, name).to.equal(null);
    });
  });

  it('serves the content of the file in the state live', () => {
    check(({ state, served }) => {
      const { published, source, opening, pending } = state;
      if (published.state !== 'live' || opening !== null || pending !== null) return;
      expect(digestOf(served?.version)).to.equal(source.prepared?.inputDigest);
    });
  });

  it('never waits for nothing', () => {
    check(({ state, timers, requests }) => {
      const { published, opening, fault, pending } = state;
      if (opening !== null) return;
      if (published.state === 'faulted') {
        expect(
          timers.some((timer) => 'version' in timer && timer.version === fault?.version),
        ).to.equal(true);
      }
      if (published.state === 'waiting' && published.name !== null) {
        const timed = timers.some((timer) => 'version' in timer && timer.version === pending);
        expect(pending !== null && (timed || requests.includes(pending))).to.equal(true);
      }
    });
  });

  it('does not open a version again that was rolled back until the file changes', () => {
    check(({ state, opening, announced }, before) => {
      if (before.serving === null || before.opening !== null || opening === null) return;
      if (announced === null || before.rejection?.digest !== announced) return;
      if (state.opening?.for === 'file') {
        expect(digestOf(before.pending)).to.not.equal(announced);
        if (state.source === before.source || state.rejection !== null) {
          expect(opening.prepared?.inputDigest).to.not.equal(announced);
        }
      }
    });
  });

  it('restores the last good version after a restart with a file that is rejected', () => {
    check((slot) => {
      if (slot.stored === null) return;
      const restarted = slot.restart().write(INVALID).finishOpening();
      expect(digestOf(restarted.served?.version)).to.equal(digestOf(slot.stored.serving.version));
      expect(restarted.state.published.state).to.equal('stale');
    });
  });

  it('stores a version on probation only after it has passed', () => {
    check(({ stored, probation }) => {
      if (probation !== null) expect(stored?.serving.version).to.not.equal(probation);
    });
  });

  it('is the same for the same events: a transition changes neither its input nor the clock', () => {
    check(({ state }) => {
      Object.freeze(state);
      Object.freeze(state.published);
      Object.freeze(state.errors);
    });
  });
});

describe('a faulted slot whose file changes', () => {
  it('drops the version in between when the file is back at the faulted one', () => {
    const slot = new SlotModel().write({ digest: 'b' }).finishOpening();
    slot.write({ digest: 'e', isRemote: true }).finishOpening().throwIn(slot.versions[0]);
    slot.write({ digest: 'b' }).answerManifest('loaded').finishOpening();
    expect(slot.state.published.state).to.equal('live');
    expect(digestOf(slot.served?.version)).to.equal('b');
  });

  it('keeps the pending version of the new content when the faulted one is reopened', () => {
    const slot = new SlotModel().write({ digest: 'e', isRemote: true }).finishOpening();
    slot.answerManifest('unavailable', manifestOf('kept')).throwIn(slot.versions[0]);
    slot.write({ digest: 'd', isRemote: true }).finishOpening();
    slot.fireTimer(1).finishOpening();
    expect(digestOf(slot.state.pending)).to.equal('d');
  });

  it('stays stale when the faulted one is reopened beside a file that became invalid', () => {
    const slot = new SlotModel().write({ digest: 'e', isRemote: true }).finishOpening();
    slot.answerManifest('unavailable', manifestOf('kept')).throwIn(slot.versions[0]);
    slot.write(INVALID).fireTimer(1).finishOpening();
    expect(slot.state.published.state).to.equal('stale');
    expect(slot.state.pending).to.equal(null);
    expect(slot.served).to.not.equal(null);
  });

  it('reopens a faulted version after an earlier one is due too while a file is opened', () => {
    const slot = new SlotModel().write({ digest: 'a' }).finishOpening();
    slot.throwIn(slot.versions[0]).write({ digest: 'a' }).finishOpening();
    const [replaced] = slot.timers;
    slot.throwIn(slot.served?.version).write({ digest: 'd', isRemote: true });
    const current = slot.timers.find((timer) => timer !== replaced);
    for (const timer of [current, replaced]) if (timer !== undefined) slot.send(timer);
    slot.finishOpening();
    expect(slot.state.opening?.for).to.equal('recovery');
  });
});
