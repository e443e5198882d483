import type { Probation } from '../descriptor/descriptor.js';
import { listChanges } from './module-changes.js';
import type { ModuleVersion } from './module-version.js';
import type { PreparedDescriptor } from './prepare-descriptor.js';
import type { Opening, Serving, SlotEvent, SlotEvents, SlotState } from './slot-state.js';
import { close, enter, forgetFault, open, type Step, storeLastGood } from './slot-step.js';
import type { StateReason } from './state-reason.js';

const FAULTED_HINT =
  'see the log for the error; the host will reopen the module with backoff, or at once when one of its files changes';
const ROLLED_BACK_HINT = 'change the descriptor or a file that it names to try again';

/** Events that may open a version, because only one is opened at a time. */
const DEFERRED: readonly SlotEvent['kind'][] = [
  ...(['applied', 'manifestInvalid', 'reopenDue', 'rejectedElsewhere'] as const),
];

/** @returns the slot after the event, and the effects to run, in this order */
export function reduce(state: SlotState, event: SlotEvent, now: Date): Step {
  const step: Step = { state: { ...state }, effects: [], now };
  // A version that opens too late is closed; other events are ignored.
  if (state.isEnded && event.kind === 'opened') close(step, event.version);
  else if (state.isEnded || isOutdated(state, event)) return step;
  else if (state.opening !== null && DEFERRED.includes(event.kind)) {
    const others = state.deferred.filter(({ kind }) => kind !== event.kind);
    step.state.deferred = [...others, event];
  } else handle(step, event.kind, event);
  while (step.state.opening === null && step.state.deferred[0] !== undefined) {
    const [next, ...deferred] = step.state.deferred;
    step.state.deferred = deferred;
    if (!isOutdated(step.state, next)) handle(step, next.kind, next);
  }
  const { serving, pending } = step.state;
  for (const version of [serving?.version, pending]) if (version) check(step, version);
  const { errors } = step.state;
  if (errors.size > 0) {
    step.state.errors = new Map([...errors].filter(([key]) => isOpen(step.state, key)));
  }
  return step;
}

/** Whether an event is about a version that was replaced. Deferred, it would displace a current one. */
function isOutdated({ fault, pending }: SlotState, event: SlotEvent): boolean {
  if (event.kind === 'reopenDue') return event.version !== fault?.version;
  return event.kind.startsWith('manifest') && 'version' in event && event.version !== pending;
}

function handle<K extends SlotEvent['kind']>(step: Step, kind: K, event: SlotEvents[K]): void {
  HANDLERS[kind](step, event);
}

function isOpen({ serving, previous, pending }: SlotState, version: ModuleVersion): boolean {
  return [serving?.version, previous?.version, pending].includes(version);
}

const HANDLERS: { readonly [K in keyof SlotEvents]: (step: Step, event: SlotEvents[K]) => void } = {
  read: ({ state }, { source }) => {
    state.source = source;
  },
  renamed: (step, { file }) => {
    const before = step.state.file;
    step.state.file = file;
    storeLastGood(step);
    step.effects.push({ kind: 'removeLastGood', file: before });
  },
  applied: (step, { taken, storedRejection, asksAgain = false }) => {
    const { prepared, problem } = step.state.source;
    if (taken !== null) {
      dropPending(step);
      fallBack(step, taken);
    } else if (prepared?.descriptor.enabled) {
      applyEnabled(step, prepared, storedRejection, asksAgain);
    } else {
      dropPending(step);
      if (problem !== null) fallBack(step, problem);
      if (prepared === null) return;
      serve(step, null);
      enter(step, 'disabled', { reason: 'enabled is false in the descriptor', hint: null });
      step.effects.push({ kind: 'removeLastGood', file: step.state.file });
    }
  },
  opened: (step, { version, errors }) => {
    const { state } = step;
    const { opening, serving, fault } = state;
    const { manifest } = version.prepared;
    state.opening = null;
    state.uncaughtErrors += errors.count;
    if (errors.first !== null) state.errors = new Map(state.errors).set(version, errors.first);
    if (opening?.for === 'file') {
      if (manifest === null) requestManifest(step, version);
      else swap(step, { version, manifest }, 'live');
    } else if (opening?.for === 'recovery' && opening.faulted === fault?.version) {
      recover(step, version, fault.wasPending);
    } else if (opening && 'before' in opening && opening.before === serving && manifest) {
      serve(step, { version, manifest });
      settle(step, opening);
    } else {
      close(step, version);
      settle(step, opening);
    }
  },
  openFailed: (step, { reason: { reason, hint } }) => {
    const { opening, fault } = step.state;
    step.state.opening = null;
    if (opening?.for === 'file') fallBack(step, { reason, hint });
    else if (opening?.for === 'recovery' && opening.faulted === fault?.version) {
      enter(step, 'faulted', { reason: `cannot be reopened: ${reason}`, hint });
      step.effects.push({ kind: 'retryOpening', version: fault.version });
    } else settle(step, opening);
  },
  manifestDue: ({ state, effects }, { version }) => {
    state.attempts += 1;
    effects.push({ kind: 'requestManifest', version, attempt: state.attempts });
  },
  manifestLoaded: (step, { version, manifest }) => {
    step.state.pending = null;
    const { serving } = step.state;
    const isServed =
      serving?.version.prepared.inputDigest === version.prepared.inputDigest &&
      serving.manifest.digest === manifest.digest;
    if (isServed && serving.version !== version) {
      close(step, version);
      enter(step, 'live');
    } else swap(step, { version, manifest }, 'live');
  },
  manifestUnavailable: (step, { version, reason, lastGood }) => {
    step.effects.push({ kind: 'retryManifest', version, attempt: step.state.attempts });
    if (lastGood !== null) swap(step, { version, manifest: lastGood }, 'waiting', reason);
    else enter(step, 'waiting', reason);
  },
  manifestInvalid: (step, { version, reason }) => {
    dropPending(step);
    if (step.state.serving?.version === version) serve(step, null);
    fallBack(step, reason);
  },
  threw: (step, { version, first }) => {
    const { state } = step;
    state.uncaughtErrors += 1;
    if (!isOpen(state, version) || state.errors.has(version)) return;
    state.errors = new Map(state.errors).set(version, first);
  },
  reopenDue: (step, { version }) =>
    open(step, { for: 'recovery', faulted: version }, version.prepared),
  probationEnded: (step, { version, failure }) => {
    if (step.state.serving?.version !== version) return;
    if (failure !== null) return rollBack(step, failure);
    endProbation(step);
    storeLastGood(step);
  },
  rejectedElsewhere: (step, { digest, reason }) => {
    const { serving, previous, pending } = step.state;
    if (serving?.version.prepared.inputDigest !== digest) {
      // This worker has not opened the version yet and must not try it.
      step.state.rejection = { digest, reason };
      if (serving === null || pending?.prepared.inputDigest !== digest) return;
      dropPending(step);
      enterRolledBack(step);
    } else if (previous !== null) {
      returnTo(step, previous, serving, reason);
    } else {
      // The previous version is already closed. The worker that rolled back has stored it.
      open(step, { for: 'rollback', before: serving, reason }, null);
    }
  },
  lastGoodLost: (step) => storeLastGood(step),
  removed: (step) => {
    const { state, effects, now } = step;
    dropPending(step);
    serve(step, null);
    state.isEnded = true;
    // Not published, because the module is no longer listed.
    const { published } = state;
    state.published = { ...published, state: 'draining', since: now, reason: null, hint: null };
    effects.push({ kind: 'removeLastGood', file: state.file });
  },
  closed: (step) => {
    const { state, effects } = step;
    dropPending(step);
    effects.push({ kind: 'endProbation' });
    if (state.previous !== null) close(step, state.previous.version);
    if (state.serving !== null) close(step, state.serving.version);
    state.isEnded = true;
  },
};

function applyEnabled(
  step: Step,
  prepared: PreparedDescriptor,
  storedRejection: string | null,
  asksAgain: boolean,
) {
  const { state } = step;
  const { serving, pending, fault } = state;
  const { inputDigest: digest } = prepared;
  if (serving === null && state.rejection?.digest !== storedRejection) {
    state.rejection = storedRejection === null ? null : { digest: storedRejection, reason: null };
  }
  if (digest !== state.rejection?.digest) state.rejection = null;
  if (fault?.version.prepared.inputDigest === digest) {
    if (!fault.wasPending) {
      dropPending(step); // The file had other content for a while.
      enter(step, 'live');
    }
    open(step, { for: 'recovery', faulted: fault.version }, fault.version.prepared);
  } else if (pending === null && serving?.version.prepared.inputDigest === digest) {
    dropPending(step);
    enter(step, 'live');
    if (asksAgain && prepared.manifest === null) open(step, { for: 'file' }, prepared);
  } else if (pending?.prepared.inputDigest !== digest) {
    dropPending(step);
    if (fault?.wasPending) enter(step, state.cause.state, state.cause.reason);
    if (state.rejection === null) open(step, { for: 'file' }, prepared);
    else if (serving === null) open(step, { for: 'rejectedFile', before: null, prepared }, null);
    else enterRolledBack(step);
  }
}

/** The last good version serves, or cannot be opened. */
function settle(step: Step, opening: Opening | null): void {
  const { serving } = step.state;
  if (opening?.for === 'fallback') fallBack(step, opening.reason, false);
  if (opening?.for === 'rejectedFile') {
    if (serving === null) open(step, { for: 'file' }, opening.prepared);
    else enterRolledBack(step);
  }
  if (opening?.for === 'rollback' && serving !== opening.before) {
    finishRollback(step, opening.before, opening.reason);
  }
}

function requestManifest(step: Step, version: ModuleVersion): void {
  const { state, effects } = step;
  state.pending = version;
  state.attempts = 1;
  effects.push({ kind: 'requestManifest', version, attempt: 1 });
  if (state.serving !== null) return;
  const isRemote = version.prepared.descriptor.manifest.kind === 'url';
  const reason = isRemote
    ? 'the URL of the manifest has not responded yet'
    : 'the provider gave no manifest yet';
  enter(step, 'waiting', { reason, hint: null });
}

/** Serves the requested version, on probation if it replaces another one and has rules for it. */
function swap(step: Step, next: Serving, to: 'live' | 'waiting', reason?: StateReason): void {
  const { version } = next;
  const changed = listChanges(step.state.serving, next);
  serve(step, next, version.prepared.descriptor.probation);
  enter(step, to, reason, changed);
  check(step, version);
  if (to === 'live' && step.state.previous === null) storeLastGood(step);
}

function serve(step: Step, serving: Serving | null, rules?: Probation): void {
  const { state, effects } = step;
  const before = state.serving;
  const replaced = before?.version === serving?.version ? null : before;
  if (replaced !== null) endProbation(step);
  state.serving = serving;
  forgetFault(step, replaced?.version);
  if (serving !== null && replaced !== null && rules !== undefined) {
    state.previous = replaced;
    effects.push({ kind: 'serve', serving, retired: null });
    effects.push({ kind: 'startProbation', version: serving.version, rules });
  } else if (before !== serving) {
    effects.push({ kind: 'serve', serving, retired: replaced?.version ?? null });
  }
}

/** Retires the version before the one on probation. */
function endProbation({ state, effects }: Step): void {
  if (state.previous === null) return;
  const { serving, previous } = state;
  effects.push({ kind: 'endProbation' });
  effects.push({ kind: 'serve', serving, retired: previous.version });
  state.previous = null;
}

function dropPending(step: Step): void {
  const { state } = step;
  const { pending, fault, serving } = state;
  const version = pending ?? (fault?.wasPending ? fault.version : null);
  state.pending = null;
  // It serves with an earlier manifest, and requests no newer one after its recovery.
  if (fault !== null) state.fault = { ...fault, wasPending: false };
  if (version === null || version === serving?.version) return;
  forgetFault(step, version);
  close(step, version);
}

/**
 * Reacts to an uncaught error. An error of a version that does not serve yet counts when it serves.
 */
function check(step: Step, version: ModuleVersion): void {
  const { state, effects } = step;
  const error = state.errors.get(version);
  const isServing = state.serving?.version === version;
  const wasPending = state.pending === version;
  if (error === undefined || !(isServing || wasPending)) return;
  if (state.fault !== null || state.isEnded) return;
  if (isServing && state.previous !== null) {
    rollBack(step, `uncaught error in module code on probation: ${error}`);
    return;
  }
  if (wasPending) state.pending = null;
  state.fault = { version, wasPending };
  effects.push({ kind: 'retryOpening', version });
  enter(step, 'faulted', { reason: `uncaught error in module code: ${error}`, hint: FAULTED_HINT });
}

/** Replaces the faulted version by a new one. */
function recover(step: Step, version: ModuleVersion, wasPending: boolean): void {
  const { state } = step;
  const { serving, cause } = state;
  const faulted = state.fault?.version;
  state.fault = null;
  if (serving?.version === faulted && serving) serve(step, { ...serving, version });
  else if (faulted) close(step, faulted);
  enter(step, cause.state, cause.reason);
  if (wasPending && state.pending === null) requestManifest(step, version);
}

/** Called when the version on probation failed: the previous one serves again. */
function rollBack(step: Step, reason: string): void {
  const { serving, previous, file } = step.state;
  if (serving === null || previous === null) return;
  returnTo(step, previous, serving, reason);
  const digest = serving.version.prepared.inputDigest;
  step.effects.push({ kind: 'announce', rejected: { file, digest, reason } });
}

function returnTo(step: Step, previous: Serving, rejected: Serving, reason: string): void {
  const { state, effects } = step;
  state.previous = null;
  state.serving = previous;
  effects.push({ kind: 'endProbation' });
  effects.push({ kind: 'serve', serving: previous, retired: rejected.version });
  finishRollback(step, rejected, reason);
}

function finishRollback(step: Step, rejected: Serving, reason: string): void {
  const { state } = step;
  if (state.pending === rejected.version) state.pending = null;
  state.rejection = { digest: rejected.version.prepared.inputDigest, reason };
  enterRolledBack(step);
  if (state.serving !== null) check(step, state.serving.version);
  storeLastGood(step);
}

/** Serves the last good version: the open one, or the one stored before a restart. */
function fallBack(step: Step, reason: StateReason, mayRestore = true): void {
  if (step.state.serving !== null) enter(step, 'stale', reason);
  else if (mayRestore) open(step, { for: 'fallback', before: null, reason }, null);
  else enter(step, 'refused', reason);
}

function enterRolledBack(step: Step): void {
  const { rejection } = step.state;
  const reason = rejection?.reason ?? 'the version in the file was rolled back before';
  enter(step, 'rolled_back', { reason, hint: ROLLED_BACK_HINT });
}
