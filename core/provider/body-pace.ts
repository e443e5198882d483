import type { Descriptor } from '../descriptor/descriptor.js';

export type Side = 'provider' | 'client';

export interface PaceLimits
  extends Pick<Descriptor['limits'], 'body_idle_ms' | 'body_min_bytes_s'> {
  /** The longest pause of the provider. Milliseconds, default `body_idle_ms`. */
  readonly provider_idle_ms?: number;
}

/** Limits the pauses of a streamed body, and its minimum speed. */
export class BodyPace {
  readonly #limits: PaceLimits;
  readonly #onStall: (side: Side, problem: string) => void;
  #timer: NodeJS.Timeout;
  #idleMs: number;
  /** The time that the body has waited for each side, within the window. Milliseconds. */
  readonly #waitedMs: Record<Side, number> = { provider: 0, client: 0 };
  #side: Side;
  #changedAt = performance.now();
  #windowStart = this.#changedAt;
  #bytes = 0;

  /** @param onStall called at most once, with the slow side and the reason */
  constructor(side: Side, limits: PaceLimits, onStall: (side: Side, problem: string) => void) {
    this.#side = side;
    this.#limits = limits;
    this.#onStall = onStall;
    this.#idleMs = this.#idleMsOf(side);
    this.#timer = this.#start();
  }

  /** Records that the body waits for this side from now on. */
  wait(side: Side): void {
    const now = performance.now();
    this.#waitedMs[this.#side] += now - this.#changedAt;
    this.#changedAt = now;
    this.#side = side;
    const idleMs = this.#idleMsOf(side);
    if (idleMs === this.#idleMs) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#idleMs = idleMs;
    this.#timer = this.#start();
  }

  /** Counts forwarded bytes. */
  pass(bytes: number): void {
    this.#bytes += bytes;
    const elapsedMs = performance.now() - this.#windowStart;
    if (elapsedMs < this.#limits.body_idle_ms) return;
    const { provider, client } = this.#waitedMs;
    const isSlow = this.#bytes < (this.#limits.body_min_bytes_s * elapsedMs) / 1000;
    if (isSlow) this.#stall(provider > client ? 'provider' : 'client', this.#slowness);
    this.#windowStart += elapsedMs;
    this.#bytes = 0;
    this.#waitedMs.provider = 0;
    this.#waitedMs.client = 0;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #idleMsOf(side: Side): number {
    const { body_idle_ms, provider_idle_ms = body_idle_ms } = this.#limits;
    return side === 'provider' ? provider_idle_ms : body_idle_ms;
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#stall(this.#side, this.#pause), this.#idleMs);
  }

  get #pause(): string {
    return `no part of it for ${this.#idleMs} ms`;
  }

  get #slowness(): string {
    return `less than ${this.#limits.body_min_bytes_s} bytes a second`;
  }

  #stall(side: Side, problem: string): void {
    this.end();
    this.#onStall(side, problem);
  }
}
