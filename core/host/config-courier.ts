import { type BackoffBounds, backoffMs } from '../lib/backoff.js';

const RETRY: BackoffBounds = { firstMs: 200, maxMs: 10_000 };

export interface Configuration {
  /** Grows by each write, from 0. */
  readonly revision: number;
  /** Keyed `service/key`. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What became of an attempt; `refused`: any other would be in vain. */
export type Delivered =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface CourierOptions {
  /** Never throws. */
  readonly deliver: (configuration: Configuration, signal: AbortSignal) => Promise<Delivered>;
  /** Called when the reason of failures changes; `null` when one was accepted again. */
  readonly onTrouble: (reason: string | null, configuration: Configuration) => void;
}

interface Parcel {
  readonly configuration: Configuration;
  /** To tell whether two are the same. */
  readonly text: string;
}

/**
 * Brings configurations to one endpoint, one at a time and in order: what is under way ends before a later
 * one starts, of several that wait only the latest goes out, and that one until it is accepted.
 */
export class ConfigCourier {
  readonly #options: CourierOptions;
  readonly #stopping = new AbortController();
  #wanted: Parcel | null = null;
  #accepted: string | null = null;
  #trouble: string | null = null;
  #isRunning = false;
  #wake: (() => void) | null = null;

  constructor(options: CourierOptions) {
    this.#options = options;
  }

  /** One that is under way or was accepted last is not delivered twice. */
  offer(configuration: Configuration): void {
    const text = JSON.stringify(configuration);
    if (text === (this.#wanted?.text ?? this.#accepted)) return;
    this.#wanted = { configuration, text };
    this.#wake?.();
    // Never throws.
    if (!this.#isRunning) void this.#run();
  }

  /** Cuts what is under way; nothing is delivered any more. */
  stop(): void {
    this.#stopping.abort();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { signal } = this.#stopping;
    for (let attempt = 1; this.#wanted !== null && !signal.aborted; attempt += 1) {
      const parcel = this.#wanted;
      const delivered = await this.#options.deliver(parcel.configuration, signal);
      if (signal.aborted) break;
      if (delivered.kind === 'refused') this.stop();
      else if (delivered.kind === 'failed') {
        this.#report(delivered.reason, parcel);
        if (this.#wanted === parcel) await this.#pause(backoffMs(attempt, RETRY));
      } else {
        this.#report(null, parcel);
        this.#accepted = parcel.text;
        if (this.#wanted === parcel) this.#wanted = null;
        attempt = 0;
      }
    }
    this.#isRunning = false;
  }

  #report(reason: string | null, { configuration }: Parcel): void {
    if (reason === this.#trouble) return;
    this.#trouble = reason;
    this.#options.onTrouble(reason, configuration);
  }

  /** Ends early when there is something new to deliver: the operator waits for that. */
  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}
