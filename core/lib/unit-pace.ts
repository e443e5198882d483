/** Units read in one turn of the event loop, so that others are served: about 1 ms of work. */
const TURN_UNITS = 10_000;
/** The work of one turn. Milliseconds. */
const TURN_MS = 5;
/** A turn of a low rate is smaller, so that its pauses stay short. */
const TURNS_PER_SECOND = 10;
/** Shorter pauses are added up, because timers are not exact. Milliseconds. */
const MIN_PAUSE_MS = 5;
/** A late timer is made up for. Milliseconds. */
const MAX_CREDIT_MS = 100;

/**
 * Limits how fast the units of a stream are read: in a turn of the event loop, because each costs
 * the same however small it is, and in a second.
 */
export class UnitPace {
  /** The units that may be read before the next pause. */
  readonly turnUnits: number;
  readonly #msPerUnit: number;
  /** When the units so far are due at the permitted rate. */
  #dueAt = 0;
  #units = 0;
  #workMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #resume: (() => void) | null = null;

  /** @param perSecond units */
  constructor(perSecond: number) {
    this.#msPerUnit = 1000 / perSecond;
    this.turnUnits = Math.min(TURN_UNITS, Math.ceil(perSecond / TURNS_PER_SECOND));
  }

  /**
   * Counts units that were read.
   * @param startedAt when their reading began, by `performance.now()`
   * @returns the pause before the next unit in milliseconds, 0 for a turn; `null` for none
   */
  pass(units: number, startedAt: number): number | null {
    const now = performance.now();
    this.#dueAt = Math.max(this.#dueAt, now - MAX_CREDIT_MS) + units * this.#msPerUnit;
    // A part without the end of a unit takes time as well.
    this.#units += Math.max(units, 1);
    this.#workMs += now - startedAt;
    const pauseMs = this.#dueAt - now;
    const isShort = pauseMs < MIN_PAUSE_MS;
    if (isShort && this.#units < TURN_UNITS && this.#workMs < TURN_MS) return null;
    this.#units = 0;
    this.#workMs = 0;
    return isShort ? 0 : pauseMs;
  }

  /** Calls `resume` after the pause, or at the end. */
  wait(pauseMs: number, resume: () => void): void {
    this.#resume = resume;
    if (pauseMs > 0) this.#timer = setTimeout(() => this.end(), pauseMs);
    else setImmediate(() => this.end());
  }

  /** Ends the pause. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const resume = this.#resume;
    this.#resume = null;
    resume?.();
  }
}
