import type { Duplex } from 'node:stream';

interface StallTimerOptions {
  readonly target: Pick<Duplex, 'writableLength'>;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly onStall: () => void;
}

/** Detects a connection that reads none of the bytes waiting for it. */
export class StallTimer {
  readonly #options: StallTimerOptions;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: StallTimerOptions) {
    this.#options = options;
  }

  /** Call it before bytes are written: the wait of the first ones begins. */
  beforeWrite(): void {
    const { target, timeoutMs } = this.#options;
    if (target.writableLength > 0) return;
    if (this.#timer === null) this.#timer = setTimeout(this.#onTimeout, timeoutMs);
    else this.#timer.refresh();
  }

  /** Call it when written bytes were taken. */
  onTaken(): void {
    this.#timer?.refresh();
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  readonly #onTimeout = () => {
    this.#timer = null;
    const { target, onStall } = this.#options;
    if (target.writableLength > 0) onStall();
  };
}
