import type { ModuleName } from './soak-module.js';

/** After a fault has gone: breakers that are open for 500 ms, connections that are dead, a busy machine. */
const AFTERMATH_MS = 4000;

/** When which module was harmed, and what its callers may then be told. */
export class FaultCalendar {
  readonly #entries: Entry[] = [];

  /** Begins now; call what it answers when the fault has gone. */
  begin(module: ModuleName, what: string, explained: readonly string[]): () => void {
    const entry: Entry = { module, what, explained, from: performance.now(), to: Infinity };
    this.#entries.push(entry);
    return () => {
      entry.to = performance.now();
    };
  }

  /** Whether an outcome, as `502 timeout` or `404`, of a call in this time is due to a fault. */
  explains(module: string, outcome: string, from: number, to: number): boolean {
    return this.#entries.some(
      (entry) =>
        entry.module === module &&
        entry.explained.includes(outcome) &&
        entry.from <= to &&
        from <= entry.to + AFTERMATH_MS,
    );
  }

  /** How often each fault was there. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { what } of this.#entries) counts[what] = (counts[what] ?? 0) + 1;
    return counts;
  }
}

interface Entry {
  readonly module: ModuleName;
  readonly what: string;
  readonly explained: readonly string[];
  readonly from: number;
  to: number;
}
