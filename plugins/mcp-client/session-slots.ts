import { type CallContext, type Log, ProviderFailure } from '../../core/contract/index.js';
import { type OpenSlotSession, SessionSlot } from './session-slot.js';

/** Sessions of actors in one process of the host. */
const MAX_ACTORS = 64;
/** After it, the session of an actor ends. */
const IDLE_MS = 600_000;
const CLEANUP_INTERVAL_MS = 30_000;

interface SlotsOptions {
  readonly isShared: boolean;
  readonly open: OpenSlotSession;
  readonly log: Log;
}

/** The sessions of one module: one that callers share, or one for each actor. */
export class SessionSlots {
  /** `null` if each actor has its own. */
  readonly shared: SessionSlot | null;
  readonly #options: SlotsOptions;
  readonly #byActor = new Map<string, SessionSlot>();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(options: SlotsOptions) {
    this.#options = options;
    this.shared = options.isShared ? new SessionSlot(options) : null;
    if (this.shared !== null) return;
    this.#timer = setInterval(() => this.#closeIdle(), CLEANUP_INTERVAL_MS).unref();
  }

  /** @throws ProviderFailure `overloaded` when too many actors have a session. */
  find(context: CallContext): SessionSlot {
    if (this.shared !== null) return this.shared;
    const { actor } = context;
    const key = `${actor?.kind ?? 'system'} ${actor?.id ?? ''}`;
    const known = this.#byActor.get(key);
    if (known !== undefined) return known;
    if (this.#byActor.size >= MAX_ACTORS) this.#closeIdle();
    if (this.#byActor.size >= MAX_ACTORS) {
      const message = `${MAX_ACTORS} actors have a session`;
      throw new ProviderFailure('overloaded', message, { phase: 'preparing' });
    }
    const { open, log } = this.#options;
    const slot = new SessionSlot({ open, log, context });
    this.#byActor.set(key, slot);
    return slot;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const slots = [...this.#byActor.values(), ...(this.shared === null ? [] : [this.shared])];
    await Promise.all(slots.map((slot) => slot.close()));
  }

  #closeIdle(): void {
    for (const [key, slot] of this.#byActor) {
      if (slot.idleMs < IDLE_MS) continue;
      this.#byActor.delete(key);
      // It never rejects.
      void slot.close();
    }
  }
}
