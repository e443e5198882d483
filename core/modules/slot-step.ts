import type { ModuleState } from './module-record.js';
import type { ModuleVersion } from './module-version.js';
import type { PreparedDescriptor } from './prepare-descriptor.js';
import {
  describeSlot,
  describeState,
  isVisibleChange,
  type Opening,
  type SlotEffect,
  type SlotState,
} from './slot-state.js';
import type { StateReason } from './state-reason.js';

/** A transition during its computation. */
export interface Step {
  readonly state: { -readonly [K in keyof SlotState]: SlotState[K] };
  readonly effects: SlotEffect[];
  readonly now: Date;
}

/** @param prepared `null` for the stored last good version */
export function open(
  { state, effects }: Step,
  opening: Opening,
  prepared: PreparedDescriptor | null,
) {
  state.opening = opening;
  effects.push({ kind: 'open', file: state.file, prepared });
}

export function close({ effects }: Step, version: ModuleVersion): void {
  effects.push({ kind: 'close', version });
}

export function forgetFault({ state }: Step, version: ModuleVersion | undefined): void {
  if (state.fault?.version === version) state.fault = null;
}

/** Stores the last good version; a version on probation is not stored before it has passed. */
export function storeLastGood({ state, effects }: Step): void {
  const { file, rejection } = state;
  const serving = state.previous ?? state.serving;
  const rejected = rejection?.digest ?? null;
  if (serving !== null) effects.push({ kind: 'storeLastGood', file, serving, rejected });
}

/** While the slot is faulted, the state takes effect after the recovery. */
export function enter(
  { state, effects, now }: Step,
  entered: ModuleState,
  reason: StateReason | null = null,
  changed: readonly string[] = [],
): void {
  if (entered !== 'faulted') {
    state.cause = { state: entered, reason };
    if (state.fault !== null) return;
  }
  const before = state.published;
  state.published = describeState(state, entered, reason, now);
  if (changed.length === 0 && !isVisibleChange(before, state.published)) return;
  effects.push({ kind: 'publish', record: describeSlot(state), changed });
}
