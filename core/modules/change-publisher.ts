import type { Log } from '../contract/index.js';
import { MAX_TIMER_MS } from '../contract/whole-number.js';
import { createTurns } from '../lib/slices.js';
import { CLOSE_ANSWER_MS } from '../lib/websocket/close-frame.js';
import type { ModuleRecord, ModuleState } from './module-record.js';
import type { ModuleSlot } from './module-slot.js';
import type { ModuleVersion } from './module-version.js';
import { describeFileStatus, type StatusSink } from './status-files.js';

/** How long calls in flight on a replaced version may continue at least before they are canceled. */
const RETIRE_MS = 10_000;

/** A slot as it was when its changes began to be withheld. */
export type FrozenSlot = Pick<ModuleSlot, 'live' | 'record' | 'mounts'>;

/** Changes that are withheld while a name moves from one file to another. */
interface Withheld {
  /** Shown and served meanwhile, by file. */
  readonly frozen: ReadonlyMap<string, FrozenSlot>;
  readonly retired: ModuleVersion[];
  readonly changes: { readonly record: ModuleRecord; readonly changed: readonly string[] }[];
}

interface ChangePublisherOptions {
  readonly log: Log;
  readonly statusSink: StatusSink | null;
  /** Publishes the serving versions of all slots as the current generation. */
  readonly publishGeneration: () => void;
  /** Called after each change that is not withheld. */
  readonly onChanged: () => void;
}

/** Publishes changes of modules, and closes versions once no request can select them. */
export class ChangePublisher {
  readonly #options: ChangePublisherOptions;
  /** Thousands of modules may be removed at once. */
  readonly #takeTurn = createTurns();
  #withheld: Withheld | null = null;

  constructor(options: ChangePublisherOptions) {
    this.#options = options;
  }

  /** The slots, and in place of those whose changes are withheld what they were. */
  listServed(slots: FrozenSlot[]): FrozenSlot[] {
    const frozen = this.#withheld?.frozen;
    if (frozen === undefined) return slots;
    return [...frozen.values(), ...slots.filter(({ record }) => !frozen.has(record.file))];
  }

  /** Withholds the changes of slots until `release`, so that a name never disappears while it moves. */
  withhold(slots: Iterable<ModuleSlot>): void {
    const frozen = [...slots].map((slot): [string, FrozenSlot] => {
      const { file, live, record, mounts } = slot;
      return [file, { live, record, mounts }];
    });
    this.#withheld = { frozen: new Map(frozen), retired: [], changes: [] };
  }

  release(): void {
    const withheld = this.#withheld;
    if (withheld === null) return;
    this.#withheld = null;
    this.#options.publishGeneration();
    for (const { record, changed } of withheld.changes) this.reportRecord(record, changed);
    // Not awaited: calls in flight end on their own time. Never rejects.
    for (const version of withheld.retired) void this.#retire(version);
  }

  /** Called when the serving version of a file has changed. */
  replace(file: string, retired: ModuleVersion | null): void {
    if (this.#withheld?.frozen.has(file) !== true) {
      this.#options.publishGeneration();
      // Not awaited: calls in flight end on their own time. Never rejects.
      if (retired !== null) void this.#retire(retired);
    } else if (retired !== null) {
      this.#withheld.retired.push(retired);
    }
  }

  reportRecord(record: ModuleRecord, changed: readonly string[]): void {
    if (this.#withheld?.frozen.has(record.file)) {
      this.#withheld.changes.push({ record, changed });
      return;
    }
    const { log, statusSink } = this.#options;
    const { name: module, file, state, reason, hint } = record;
    const write = log[LEVELS[state] ?? 'info'];
    const digest = record.live?.configDigest ?? null;
    write({ module, file, state, changed, reason, hint, digest }, 'module changed');
    statusSink?.write(describeFileStatus(record));
    this.#options.onChanged();
  }

  reportRename(from: string, record: ModuleRecord): void {
    const { log, statusSink } = this.#options;
    const { name: module, file, state } = record;
    log.info({ module, file, state, changed: ['file'], renamed_from: from }, 'module renamed');
    statusSink?.remove(from);
    statusSink?.write(describeFileStatus(record));
    this.#options.onChanged();
  }

  reportRemoval({ name: module, file }: ModuleRecord): void {
    const { log, statusSink } = this.#options;
    log.info({ module, file, state: 'removed', changed: ['removed'] }, 'module removed');
    statusSink?.remove(file);
    this.#options.onChanged();
  }

  /** Lets calls in flight finish, then closes the version. */
  async #retire({ client, scope, drainMs }: ModuleVersion): Promise<void> {
    await this.#takeTurn();
    const ending = setTimeout(() => client.endStreams('reload'), drainMs);
    await client.drain(Math.min(Math.max(RETIRE_MS, drainMs), MAX_TIMER_MS), CLOSE_ANSWER_MS);
    clearTimeout(ending);
    await scope.close();
  }
}

/** The level of the log line for a state. Default `info`. */
const LEVELS: Partial<Record<ModuleState, 'warn' | 'error'>> = {
  refused: 'error',
  stale: 'error',
  faulted: 'warn',
  rolled_back: 'warn',
};

/** Calls listeners soon after a change; several changes at once cause one call. */
export class ChangeSignal {
  readonly #listeners = new Set<() => void>();
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Immediate | null = null;

  /** @param onError called when a listener throws; the other listeners are still called */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** @returns a function that removes the listener */
  add(listener: () => void): () => void {
    const added = () => listener();
    this.#listeners.add(added);
    return () => this.#listeners.delete(added);
  }

  readonly notify = (): void => {
    if (this.#timer !== null || this.#listeners.size === 0) return;
    this.#timer = setImmediate(() => {
      this.#timer = null;
      for (const listener of [...this.#listeners]) this.#call(listener);
    });
  };

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#onError(error);
    }
  }
}
