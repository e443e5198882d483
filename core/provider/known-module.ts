import { AdapterCounters } from './adapter-counters.js';

export interface CallCounts {
  readonly calls: number;
  /** Calls that have ended, failed or not. */
  readonly ended: number;
  /**
   * Calls that ended with a 502, or in raw mode with a status of 500 or more, and answers that
   * broke off: bodies, event streams and WebSockets.
   */
  readonly failed: number;
  readonly retries: number;
  readonly inFlight: number;
  readonly queued: number;
  /** Responses that clients have not read completely. */
  readonly sending: number;
}

export interface CallTotals {
  calls: number;
  failed: number;
  /** Failed lookups of names of its endpoints; absent without names. */
  resolveFailures?: number;
}

interface Known {
  readonly connection: string;
  readonly state: object;
  /** The number of open versions that use it. */
  users: number;
}

/** By subject, those of each connection, the latest last. */
type KnownStates = Map<string, readonly Known[]>;

/** A state that a version uses until it is released. */
export interface KnownState<T> {
  readonly state: T;
  release(): void;
}

/**
 * What the versions of a module have learned of its provider. Each state is kept under what it
 * depends on, while an open version uses it, so that a change of anything else keeps it.
 */
export class KnownModule {
  readonly totals: CallTotals = { calls: 0, failed: 0 };
  readonly counters = new AdapterCounters();
  readonly #known: KnownStates = new Map();

  /**
   * @param subject what the state is about: `['breakers', id, settings]`
   * @param connection how the provider is called; versions that call it in the same way share the
   * state
   * @param create called with the latest state of another connection; `null` for none
   */
  use<T extends object>(
    subject: readonly unknown[],
    connection: string,
    create: (earlier: T | null) => T,
  ): KnownState<T> {
    const key = JSON.stringify(subject);
    const all = this.#known.get(key) ?? [];
    const known = all.find((one) => one.connection === connection) ?? {
      connection,
      // A subject has states of one type.
      state: create((all.at(-1)?.state ?? null) as T | null),
      users: 0,
    };
    if (known.users === 0) this.#known.set(key, [...all, known]);
    known.users += 1;
    return new UsedState<T>(this.#known, key, known);
  }
}

/** A class instead of closures, of which a version has several. */
class UsedState<T> implements KnownState<T> {
  readonly #all: KnownStates;
  readonly #key: string;
  readonly #known: Known;

  constructor(all: KnownStates, key: string, known: Known) {
    this.#all = all;
    this.#key = key;
    this.#known = known;
  }

  get state(): T {
    return this.#known.state as T;
  }

  release(): void {
    this.#known.users -= 1;
    if (this.#known.users > 0) return;
    const others = (this.#all.get(this.#key) ?? []).filter((one) => one !== this.#known);
    if (others.length > 0) this.#all.set(this.#key, others);
    else this.#all.delete(this.#key);
  }
}
