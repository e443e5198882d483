import { digestText } from '../lib/hash.js';
import type { DescriptorSource } from './descriptor-source.js';
import type { ModuleRecord, RejectedDigests } from './module-record.js';
import {
  InvalidTransition,
  type ModuleEvent,
  REJECTED_STATES,
  StateMachine,
} from './module-states.js';
import type { ServingVersion } from './module-version.js';
import { configDigestOf } from './prepare-descriptor.js';
import type { SlotContext } from './slot-context.js';
import type { StateReason } from './state-reason.js';

/** The current values from which the status of a slot is derived. */
interface SlotContents {
  readonly file: string;
  readonly source: DescriptorSource;
  readonly serving: ServingVersion | null;
  /** How often the manifest was requested. */
  readonly attempts: number;
  /** Whether a version waits to be reopened after an uncaught error. */
  readonly isFaulted: boolean;
}

/** The published part of the file. It changes together with the state, not when the file is read. */
type PublishedSource = Pick<ModuleRecord, 'name' | 'descriptor' | 'fileDigest' | 'rejected'>;

interface Cause {
  readonly event: ModuleEvent;
  readonly reason: StateReason | null;
}

/** The state of a slot, and its published record. */
export class SlotStatus {
  readonly #context: Pick<SlotContext, 'log' | 'onRecordChange'>;
  readonly #read: () => SlotContents;
  readonly #machine = new StateMachine();
  #published: PublishedSource = { name: null, descriptor: null, fileDigest: null, rejected: null };
  /** The last event other than a fault: it determines the state after a recovery. */
  #cause: Cause = { event: 'manifestPending', reason: null };
  #uncaughtErrors = 0;

  constructor(context: Pick<SlotContext, 'log' | 'onRecordChange'>, read: () => SlotContents) {
    this.#context = context;
    this.#read = read;
  }

  get record(): ModuleRecord {
    const { file, serving, attempts } = this.#read();
    const { state, since, reason, hint } = this.#machine;
    return {
      file,
      ...this.#published,
      state,
      since,
      reason,
      hint,
      attempts,
      live: serving?.live ?? null,
      uncaughtErrors: this.#uncaughtErrors,
    };
  }

  get reason(): string | null {
    return this.#machine.reason;
  }

  countUncaughtErrors(count: number): void {
    this.#uncaughtErrors += count;
  }

  /**
   * Changes the state and publishes the change. While the slot is faulted, the event takes effect after
   * the recovery.
   */
  apply(event: ModuleEvent, reason: StateReason | null = null, changed: readonly string[] = []) {
    if (event !== 'faulted') this.#cause = { event, reason };
    if (event !== 'faulted' && this.#read().isFaulted) return;
    const before = this.record;
    if (!this.#transition(event, reason)) return;
    this.publishSource();
    const after = this.record;
    if (changed.length > 0 || isNews(before, after)) this.#context.onRecordChange(after, changed);
  }

  /** Returns to the state before the fault, or to that of a later event. */
  recover(): void {
    this.apply(this.#cause.event, this.#cause.reason);
  }

  /** The file was removed. Not published, because the module is no longer listed. */
  drain(): void {
    this.#transition('removed', null);
  }

  /** Publishes the current content of the file, without a change of state. */
  publishSource(): void {
    const { source, serving } = this.#read();
    const { descriptor = null } = source.prepared ?? serving?.version.prepared ?? {};
    const isRejected = REJECTED_STATES.has(this.#machine.state);
    this.#published = {
      name: source.name ?? serving?.live.name ?? null,
      descriptor,
      fileDigest: isRejected ? digestServedText(serving) : source.textDigest,
      rejected: isRejected ? digestRejected(source) : null,
    };
  }

  /** An event that the table does not allow is logged and ignored: the host must not stop. */
  #transition(event: ModuleEvent, reason: StateReason | null): boolean {
    try {
      this.#machine.transition(event, reason);
      return true;
    } catch (error) {
      if (!(error instanceof InvalidTransition)) throw error;
      const { file } = this.#read();
      this.#context.log.error({ err: error, file }, 'invalid module state transition');
      return false;
    }
  }
}

function isNews(before: ModuleRecord, after: ModuleRecord): boolean {
  return (
    after.state !== before.state ||
    after.reason !== before.reason ||
    after.fileDigest !== before.fileDigest ||
    after.rejected?.file !== before.rejected?.file
  );
}

function digestServedText(serving: ServingVersion | null): string | null {
  return serving === null ? null : digestText(serving.version.prepared.text);
}

function digestRejected({ textDigest, prepared }: DescriptorSource): RejectedDigests {
  const manifest = prepared?.manifest?.digest ?? null;
  return {
    file: textDigest,
    manifest,
    config:
      prepared === null || manifest === null
        ? null
        : configDigestOf(prepared.inputDigest, manifest),
  };
}
