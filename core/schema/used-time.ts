import { LRUCache } from 'lru-cache';

const MAX_ACTORS = 10_000;
const MS_PER_SECOND = 1000;

/** The processor time that actors have used, minus the allowance since then. */
export class UsedTime {
  readonly #perSecondMs: number;
  readonly #used = new LRUCache<string, { readonly ms: number; readonly countedAt: number }>({
    max: MAX_ACTORS,
  });

  /** @param perSecondMs the time that an actor may use in a second, and at once. Milliseconds */
  constructor(perSecondMs: number) {
    this.#perSecondMs = perSecondMs;
  }

  isUsedUp(actor: string): boolean {
    return this.#readMs(actor) > this.#perSecondMs;
  }

  /** @param ms milliseconds */
  add(actor: string, ms: number): void {
    this.#used.set(actor, { ms: this.#readMs(actor) + ms, countedAt: performance.now() });
  }

  #readMs(actor: string): number {
    const used = this.#used.get(actor);
    if (used === undefined) return 0;
    const seconds = (performance.now() - used.countedAt) / MS_PER_SECOND;
    return Math.max(0, used.ms - seconds * this.#perSecondMs);
  }
}
