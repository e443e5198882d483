import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  InvalidTransition,
  MODULE_STATES,
  type ModuleEvent,
  type ModuleState,
  StateMachine,
  TRANSITIONS,
} from '../../core/modules/module-states.js';

const TABLE: Readonly<Record<ModuleState, Partial<Record<ModuleEvent, ModuleState>>>> = TRANSITIONS;
const EVENTS = [
  ...new Set(MODULE_STATES.flatMap((state) => Object.keys(TABLE[state]))),
] as ModuleEvent[];
const REASON = { reason: 'a reason', hint: 'a hint' };
const SOURCES = join(process.cwd(), 'core');
/** Computes the merged state of several workers; it has no state itself. */
const MERGED_STATUS = 'cluster/merge-status.ts';

/** The shortest sequence of events from the first state to each state. */
function findWays(): ReadonlyMap<ModuleState, readonly ModuleEvent[]> {
  const ways = new Map<ModuleState, readonly ModuleEvent[]>([['waiting', []]]);
  for (const [state, way] of ways) {
    for (const event of EVENTS) {
      const next = TABLE[state][event];
      if (next !== undefined && !ways.has(next)) ways.set(next, [...way, event]);
    }
  }
  return ways;
}

function machineIn(state: ModuleState): StateMachine {
  const machine = new StateMachine();
  for (const event of findWays().get(state) ?? []) machine.transition(event, null);
  expect(machine.state).to.equal(state);
  return machine;
}

describe('module state machine', () => {
  it('has the eight states of the contract', () => {
    expect(MODULE_STATES).to.deep.equal([
      ...['waiting', 'live', 'stale', 'refused', 'faulted', 'draining', 'disabled', 'rolled_back'],
    ]);
  });

  it('starts in the state waiting, with a reason', () => {
    const { state, reason, hint } = new StateMachine();
    expect({ state, reason, hint }).to.deep.equal({
      state: 'waiting',
      reason: 'the descriptor is opened',
      hint: null,
    });
  });

  for (const state of MODULE_STATES) {
    it(`reaches ${state} from the first state`, () => {
      expect(findWays().has(state)).to.equal(true);
    });

    for (const event of EVENTS) {
      const next = TABLE[state][event];
      if (next === undefined) {
        it(`rejects ${event} in the state ${state}, and changes nothing`, () => {
          const machine = machineIn(state);
          const { since, reason } = machine;
          expect(() => machine.transition(event, REASON)).to.throw(InvalidTransition, event);
          expect(machine.state).to.equal(state);
          expect(machine.reason).to.equal(reason);
          expect(machine.since).to.equal(since);
        });
      } else {
        it(`goes from ${state} to ${next} on ${event}`, () => {
          const machine = machineIn(state);
          const { since } = machine;
          machine.transition(event, REASON);
          const { reason, hint } = machine;
          expect({ state: machine.state, reason, hint }).to.deep.equal({ state: next, ...REASON });
          if (next === state) expect(machine.since).to.equal(since);
          else expect(machine.since).to.not.equal(since);
        });
      }
    }
  }

  it('has no event that leaves draining', () => {
    expect(TABLE.draining).to.deep.equal({});
  });

  it('is the only code that assigns the state of a module', () => {
    const states = MODULE_STATES.join('|');
    const isAssignment = /\bstate\s*(?:=(?![=>])|\?\?=|\|\|=)/;
    const isLiteral = new RegExp(`\\bstate\\s*(?:=(?![=>])|:)\\s*'(?:${states})'`);
    const sources = listSources(SOURCES).filter((path) => path !== MERGED_STATUS);
    const found = sources.flatMap((path) => {
      const lines = readFileSync(join(SOURCES, path), 'utf8').split('\n');
      return lines.flatMap((line, index) => {
        const isOwn = path.startsWith('modules/') && isAssignment.test(line);
        return isOwn || isLiteral.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [];
      });
    });
    const own = found.filter((line) => line.startsWith('modules/module-states.ts:'));
    expect(own.length).to.be.at.least(1);
    expect(found.filter((line) => !own.includes(line))).to.deep.equal([]);
  });
});

function listSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
}
