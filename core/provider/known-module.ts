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
  readonly state: object;
  /** The number of open versions that use it. */
  users: number;
}

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
  readonly #known = new Map<string, Map<string, Known>>();

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
    const connections = this.#known.get(key) ?? new Map<string, Known>();
    this.#known.set(key, connections);
    const earlier = [...connections.values()].at(-1)?.state ?? null;
    // A subject has states of one type.
    const known = connections.get(connection) ?? { state: create(earlier as T | null), users: 0 };
    known.users += 1;
    connections.set(connection, known);
    return {
      state: known.state as T,
      release: () => {
        known.users -= 1;
        if (known.users > 0) return;
        connections.delete(connection);
        if (connections.size === 0) this.#known.delete(key);
      },
    };
  }
}
