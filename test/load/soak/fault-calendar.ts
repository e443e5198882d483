import type { ModuleName } from './soak-module.js';

/** The effects of a fault end within this time: breakers are open for up to 500 ms, and machines are slow. */
const AFTERMATH_MS = 4000;

/** Records the faults of each module, with the outcomes that clients may see meanwhile. */
export class FaultCalendar {
  readonly #entries: Entry[] = [];

  /** Records the start of a fault. @returns ends it */
  begin(module: ModuleName, subject: string, explained: readonly string[]): () => void {
    const entry: Entry = {
      module,
      subject,
      explained,
      from: performance.now(),
      to: Infinity,
    };
    this.#entries.push(entry);
    return () => {
      entry.to = performance.now();
    };
  }

  /** Whether a fault explains an outcome, such as `502 timeout` or `404`, of a call in this time. */
  explains(module: string, outcome: string, from: number, to: number): boolean {
    return this.#entries.some(
      (entry) =>
        entry.module === module &&
        entry.explained.includes(outcome) &&
        entry.from <= to &&
        from <= entry.to + AFTERMATH_MS,
    );
  }

  /** How often each fault occurred. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { subject } of this.#entries) counts[subject] = (counts[subject] ?? 0) + 1;
    return counts;
  }
}

interface Entry {
  readonly module: ModuleName;
  readonly subject: string;
  readonly explained: readonly string[];
  readonly from: number;
  to: number;
}
