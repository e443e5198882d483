import type { StateReason } from './state-reason.js';

/**
 * Every state of a module and the events that leave it. An event leads to the same state from every state
 * that allows it.
 */
export const TRANSITIONS = {
  /** The manifest is pending. With the last good manifest its routes already work. */
  waiting: {
    manifestPending: 'waiting',
    served: 'live',
    fellBack: 'stale',
    rejected: 'refused',
    rolledBack: 'rolled_back',
    faulted: 'faulted',
    disabled: 'disabled',
    removed: 'draining',
  },
  /** The version in the file serves. */
  live: {
    served: 'live',
    manifestPending: 'waiting',
    fellBack: 'stale',
    rolledBack: 'rolled_back',
    faulted: 'faulted',
    disabled: 'disabled',
    removed: 'draining',
  },
  /** The file cannot be used, and the last good version serves. */
  stale: {
    fellBack: 'stale',
    served: 'live',
    manifestPending: 'waiting',
    rolledBack: 'rolled_back',
    faulted: 'faulted',
    disabled: 'disabled',
    removed: 'draining',
  },
  /** The file cannot be used, and nothing serves. */
  refused: {
    rejected: 'refused',
    served: 'live',
    manifestPending: 'waiting',
    fellBack: 'stale',
    rolledBack: 'rolled_back',
    faulted: 'faulted',
    disabled: 'disabled',
    removed: 'draining',
  },
  /** The code of the module threw an uncaught error. Its version serves until it is reopened. */
  faulted: {
    faulted: 'faulted',
    served: 'live',
    manifestPending: 'waiting',
    fellBack: 'stale',
    rejected: 'refused',
    rolledBack: 'rolled_back',
    disabled: 'disabled',
    removed: 'draining',
  },
  /** The file was removed, and calls in flight finish. */
  draining: {},
  /** The descriptor says `enabled: false`. */
  disabled: {
    disabled: 'disabled',
    served: 'live',
    manifestPending: 'waiting',
    fellBack: 'stale',
    rejected: 'refused',
    rolledBack: 'rolled_back',
    faulted: 'faulted',
    removed: 'draining',
  },
  /** The version in the file failed its probation, and the previous version serves. */
  rolled_back: {
    rolledBack: 'rolled_back',
    served: 'live',
    manifestPending: 'waiting',
    fellBack: 'stale',
    faulted: 'faulted',
    disabled: 'disabled',
    removed: 'draining',
  },
} as const;

export type ModuleState = keyof typeof TRANSITIONS;

export type ModuleEvent = keyof (typeof TRANSITIONS)['faulted'];

export const MODULE_STATES = Object.keys(TRANSITIONS) as readonly ModuleState[];

/** The states in which the content of the file does not serve. */
export const REJECTED_STATES: ReadonlySet<ModuleState> = new Set([
  'refused',
  'stale',
  'rolled_back',
]);

/** An event that the table does not allow: an error in this program. */
export class InvalidTransition extends Error {
  override readonly name = 'InvalidTransition';

  constructor(state: ModuleState, event: ModuleEvent) {
    super(`module state '${state}' does not allow the event '${event}'`);
  }
}

/** The state of one module, with the reason for it and the time of the last change. */
export class StateMachine {
  #state: ModuleState = 'waiting';
  #since = new Date();
  #reason: StateReason | null = { reason: 'the descriptor is opened', hint: null };

  get state(): ModuleState {
    return this.#state;
  }

  get since(): Date {
    return this.#since;
  }

  get reason(): string | null {
    return this.#reason?.reason ?? null;
  }

  get hint(): string | null {
    return this.#reason?.hint ?? null;
  }

  /** @throws InvalidTransition, and changes nothing, for an event that the state does not allow. */
  transition(event: ModuleEvent, reason: StateReason | null): void {
    const allowed: Partial<Record<ModuleEvent, ModuleState>> = TRANSITIONS[this.#state];
    const next = allowed[event];
    if (next === undefined) throw new InvalidTransition(this.#state, event);
    if (next !== this.#state) this.#since = new Date();
    this.#state = next;
    this.#reason = reason;
  }
}
