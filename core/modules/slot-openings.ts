import type { Log } from '../contract/index.js';
import { isolate } from '../isolation/isolate.js';
import { mapConcurrently, settleWithin } from '../lib/promises.js';
import { createTurns } from '../lib/slices.js';
import type { ModuleSlot } from './module-slot.js';
import type { StateReason } from './state-reason.js';

const MODULES_AT_ONCE = 16;
/** An opening that takes longer waits for something else, and does not hold up others. */
const PLACE_MS = 250;

interface SlotOpeningsOptions {
  readonly log: Log;
  /** Called when the content of a slot serves, or was rejected. */
  readonly onApplied: (slot: ModuleSlot) => void;
}

/** Applies the contents of slots, some at a time: a slow one does not hold up others. */
export class SlotOpenings {
  readonly #options: SlotOpeningsOptions;
  /** Thousands of files may change at once. */
  readonly #takeTurn = createTurns();
  readonly #running = new Set<Promise<void>>();
  /** The slots that have got their name, with their work. */
  readonly #granted = new Map<ModuleSlot, Promise<void>>();

  constructor(options: SlotOpeningsOptions) {
    this.#options = options;
  }

  /** The work of a slot that has got its name, and is not done; `undefined` for none. */
  find(slot: ModuleSlot): Promise<void> | undefined {
    return this.#granted.get(slot);
  }

  /**
   * @param conflict the reason why they cannot have their name
   * @returns resolves when all are done; never rejects
   */
  start(slots: readonly ModuleSlot[], conflict: StateReason | null = null): Promise<void> {
    if (slots.length === 0) return Promise.resolve();
    const work = this.#applyAll(slots, conflict).then(() => {
      this.#running.delete(work);
      for (const slot of slots) if (this.#granted.get(slot) === work) this.#granted.delete(slot);
    });
    this.#running.add(work);
    if (conflict === null) for (const slot of slots) this.#granted.set(slot, work);
    return work;
  }

  /** Resolves when all that has begun is done. Never rejects. */
  async waitForAll(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #applyAll(slots: readonly ModuleSlot[], conflict: StateReason | null): Promise<void> {
    const { log, onApplied } = this.#options;
    const all: Promise<void>[] = [];
    await mapConcurrently(slots, MODULES_AT_ONCE, async (slot) => {
      await this.#takeTurn();
      const applied = isolate(log, slot.file, () => slot.apply(conflict)).then(() =>
        onApplied(slot),
      );
      all.push(applied);
      await settleWithin(applied, PLACE_MS);
    });
    await Promise.all(all);
  }
}
