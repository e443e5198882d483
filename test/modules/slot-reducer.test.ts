import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MODULE_STATES, type ModuleState } from '../../core/modules/module-record.js';
import { type Content, INVALID, SlotModel } from '../support/reload/slot-model.js';

const A: Content = { digest: 'a' };
const Z: Content = { digest: 'z' };
const SOURCES = join(process.cwd(), 'core');
/** Computes the merged state of several workers; it has no state itself. */
const MERGED_STATUS = 'operations/status/merge-status.ts';
const OWN = ['modules/slot-reducer.ts', 'modules/slot-state.ts'];

const live = () => new SlotModel().write(A).finishOpening();

/** The shortest way to each state. */
const WAYS: Readonly<Record<ModuleState, () => SlotModel>> = {
  waiting: () => new SlotModel().write({ digest: 'd', isRemote: true }).finishOpening(),
  live,
  stale: () => live().write(INVALID),
  refused: () => new SlotModel().write(INVALID).finishOpening('openFailed'),
  faulted: () => throwInServing(live()),
  draining: () => live().send({ kind: 'removed' }),
  disabled: () => new SlotModel().write({ digest: 'a', isEnabled: false }),
  rolled_back: () => {
    const slot = live().write({ digest: 'b', isOnProbation: true }).finishOpening();
    return slot.endProbation('too many calls failed');
  },
};

const EVENTS = {
  valid: (slot) => slot.write(Z).finishOpening(),
  invalid: (slot) => slot.write(INVALID).finishOpening(),
  notOpened: (slot) => slot.write(Z).finishOpening('openFailed').finishOpening(),
  noManifest: (slot) =>
    slot.write({ digest: 'y', isRemote: true }).finishOpening().answerManifest('unavailable'),
  nameOfAnother: (slot) => slot.write(Z, 'other.yaml').finishOpening(),
  disabled: (slot) => slot.write({ ...Z, isEnabled: false }),
  threw: throwInServing,
  rejectedElsewhere: (slot) => {
    const digest = slot.served?.version.prepared.inputDigest ?? 'none';
    return slot.send({ kind: 'rejectedElsewhere', digest, reason: 'elsewhere' }).finishOpening();
  },
  removed: (slot) => slot.send({ kind: 'removed' }),
} satisfies Record<string, (slot: SlotModel) => SlotModel>;

type EventName = keyof typeof EVENTS;

const ALWAYS = { valid: 'live', disabled: 'disabled', removed: 'draining' } as const;
const GOOD = {
  ...ALWAYS,
  invalid: 'stale',
  notOpened: 'stale',
  noManifest: 'waiting',
  nameOfAnother: 'stale',
  threw: 'faulted',
  rejectedElsewhere: 'rolled_back',
} as const;
const NOTHING_SERVES = {
  ...ALWAYS,
  invalid: 'refused',
  notOpened: 'refused',
  noManifest: 'waiting',
  nameOfAnother: 'refused',
} as const;

/** The state after each event. */
const TABLE: Readonly<Record<ModuleState, Readonly<Record<EventName, ModuleState>>>> = {
  waiting: { ...NOTHING_SERVES, threw: 'faulted', rejectedElsewhere: 'waiting' },
  live: GOOD,
  stale: GOOD,
  refused: { ...NOTHING_SERVES, threw: 'refused', rejectedElsewhere: 'refused' },
  // While a module is faulted, only a version that serves instead ends it.
  faulted: {
    ...GOOD,
    ...{
      invalid: 'faulted',
      notOpened: 'faulted',
      noManifest: 'faulted',
      nameOfAnother: 'faulted',
    },
  },
  draining: {
    ...{ valid: 'draining', invalid: 'draining', notOpened: 'draining', noManifest: 'draining' },
    ...{ nameOfAnother: 'draining', disabled: 'draining', threw: 'draining' },
    ...{ rejectedElsewhere: 'draining', removed: 'draining' },
  },
  disabled: { ...NOTHING_SERVES, threw: 'disabled', rejectedElsewhere: 'disabled' },
  rolled_back: GOOD,
};

function throwInServing(slot: SlotModel): SlotModel {
  return slot.throwIn(slot.served?.version ?? slot.state.pending ?? undefined);
}

function stateOf({ state }: SlotModel): ModuleState {
  return state.published.state;
}

describe('module state machine', () => {
  it('has the eight states of the contract', () => {
    expect(MODULE_STATES).to.deep.equal([
      ...['waiting', 'live', 'stale', 'refused', 'faulted', 'draining', 'disabled', 'rolled_back'],
    ]);
  });

  it('starts in the state waiting, with a reason', () => {
    const { state, reason, hint } = new SlotModel().state.published;
    expect({ state, reason, hint }).to.deep.equal({
      state: 'waiting',
      reason: 'the descriptor is opened',
      hint: null,
    });
  });

  for (const state of MODULE_STATES) {
    it(`reaches ${state} from the first state`, () => {
      expect(stateOf(WAYS[state]())).to.equal(state);
    });

    for (const event of Object.keys(EVENTS) as EventName[]) {
      const next = TABLE[state][event];
      it(`goes from ${state} to ${next} on ${event}`, () => {
        const slot = WAYS[state]();
        const { since } = slot.state.published;
        EVENTS[event](slot);
        expect(stateOf(slot)).to.equal(next);
        const { published } = slot.state;
        // A state that was left in between begins anew.
        if (next !== state) expect(published.since).to.be.above(since);
        else expect(published.since).to.equal(since);
      });
    }
  }

  it('has no event that leaves draining', () => {
    const slot = WAYS.draining();
    const { published, state } = slot;
    const count = published.length;
    for (const event of Object.values(EVENTS)) event(slot);
    expect(slot.state.published).to.equal(state.published);
    expect(published).to.have.lengthOf(count);
  });

  it('is the only code that assigns the state of a module', () => {
    const states = MODULE_STATES.join('|');
    const isAssignment = /\bstate\s*(?:=(?![=>])|\?\?=|\|\|=)/;
    const isLiteral = new RegExp(`\\bstate\\s*(?:=(?![=>])|:)\\s*'(?:${states})'`);
    const sources = listSources(SOURCES).filter((path) => path !== MERGED_STATUS);
    const matchingLines = sources.flatMap((path) => {
      const lines = readFileSync(join(SOURCES, path), 'utf8').split('\n');
      return lines.flatMap((line, index) => {
        const isOwn = path.startsWith('modules/') && isAssignment.test(line);
        return isOwn || isLiteral.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [];
      });
    });
    const moduleLines = matchingLines.filter((line) =>
      OWN.some((path) => line.startsWith(`${path}:`)),
    );
    expect(moduleLines.length).to.be.at.least(1);
    expect(matchingLines.filter((line) => !moduleLines.includes(line))).to.deep.equal([]);
  });
});

describe('slot status', () => {
  const statesOf = ({ published }: SlotModel) => published.map(({ state }) => state);

  it('publishes a change once', () => {
    const slot = WAYS.refused().write(INVALID).finishOpening('openFailed');
    const shown = slot.published.map(({ name, state, reason }) => [name, state, reason]);
    expect(shown).to.deep.equal([['crm', 'refused', 'a reason']]);
  });

  it('applies the last event of a faulted module after the recovery', () => {
    const slot = WAYS.faulted().write(INVALID);
    expect(stateOf(slot)).to.equal('faulted');
    slot.fireTimer().finishOpening();
    expect(statesOf(slot)).to.deep.equal(['live', 'faulted', 'stale']);
  });

  it('returns to the state before the fault without another event', () => {
    const slot = WAYS.faulted().fireTimer().finishOpening();
    const { state, reason } = slot.state.published;
    expect({ state, reason }).to.deep.equal({ state: 'live', reason: null });
  });

  it('faults again when a version that is opened after a fault throws meanwhile', () => {
    const slot = WAYS.faulted().fireTimer().finishOpening('faulty');
    expect(statesOf(slot)).to.deep.equal(['live', 'faulted', 'live', 'faulted']);
    expect(slot.state.uncaughtErrors).to.equal(2);
  });

  it('shows the reason of a rollback as long as the rejected version is in the file', () => {
    const slot = WAYS.rolled_back().write(INVALID).finishOpening();
    expect(slot.state.published.reason).to.equal('a reason');
    slot.write({ digest: 'b', isOnProbation: true });
    const { state, reason } = slot.state.published;
    expect({ state, reason }).to.deep.equal({
      state: 'rolled_back',
      reason: 'too many calls failed',
    });
  });

  it('says that a version was rolled back before a restart', () => {
    const slot = WAYS.rolled_back().restart().write({ digest: 'b' }).finishOpening();
    const { state, reason } = slot.state.published;
    expect({ state, reason }).to.deep.equal({
      state: 'rolled_back',
      reason: 'the version in the file was rolled back before',
    });
  });

  it('asks for a remote manifest again after SIGHUP, and replaces the version if it differs', () => {
    const remote: Content = { digest: 'd', isRemote: true };
    const slot = new SlotModel().write(remote).finishOpening().answerManifest('loaded');
    const first = slot.served;
    expect(slot.write(remote).opening).to.equal(null);
    slot.write(remote, null, true).finishOpening();
    expect(slot.served).to.equal(first);
    slot.answerManifest('loaded');
    expect([slot.served, slot.open]).to.deep.equal([first, [first?.version]]);
    slot.write(remote, null, true).finishOpening().answerManifest('changed');
    expect(slot.served?.version).to.not.equal(first?.version);
    expect([stateOf(slot), slot.open]).to.deep.equal(['live', [slot.served?.version]]);
  });

  it('serves on with its manifest after SIGHUP while none can be read', () => {
    const remote: Content = { digest: 'd', isRemote: true };
    const slot = new SlotModel().write(remote).finishOpening().answerManifest('loaded');
    const first = slot.served;
    slot.write(remote, null, true).finishOpening().answerManifest('invalid');
    expect([stateOf(slot), slot.served]).to.deep.equal(['stale', first]);
    slot.write(remote, null, true).finishOpening().answerManifest('unavailable');
    expect([stateOf(slot), slot.served]).to.deep.equal(['waiting', first]);
    slot.fireTimer().answerManifest('loaded');
    expect([stateOf(slot), slot.served]).to.deep.equal(['live', first]);
  });

  it('asks for no manifest of a file again', () => {
    expect(live().write(A, null, true).opening).to.equal(null);
  });

  it('does not wait for the manifest of a version that another worker has rolled back', () => {
    const slot = live().write({ digest: 'd', isRemote: true }).finishOpening();
    slot.send({ kind: 'rejectedElsewhere', digest: 'd', reason: 'elsewhere' });
    expect(stateOf(slot)).to.equal('rolled_back');
    slot.answerManifest('loaded');
    expect(slot.served?.version.prepared.inputDigest).to.equal('a');
  });
});

function listSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
}
