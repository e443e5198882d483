import type { FleetHostStatus } from '../../contract/fleet-status.js';
import { compareTexts } from '../../lib/compare-texts.js';
import type { Leadership } from '../../processes.js';

/** Leads only in one process of one host of a fleet. */
export class FleetLeadership implements Leadership {
  readonly #process: Leadership;
  readonly #listeners = new Set<() => void>();
  #isChosen = false;

  /** @param process the leadership among the processes of this host */
  constructor(process: Leadership) {
    this.#process = process;
    process.onChange(() => this.#notify());
  }

  get leads(): boolean {
    return this.#isChosen && this.#process.leads;
  }

  onChange(listener: () => void): () => void {
    const ownListener = () => listener();
    this.#listeners.add(ownListener);
    return () => this.#listeners.delete(ownListener);
  }

  /**
   * Chooses the host that started first; every host that reads the same list chooses the same one.
   * For some seconds after a host is lost, none or two may be chosen.
   */
  choose(hosts: readonly FleetHostStatus[], ownId: string): void {
    const [first] = hosts
      .filter(({ state }) => state === 'ready' || state === 'starting')
      .toSorted((a, b) => compareTexts(a.started_at, b.started_at) || compareTexts(a.id, b.id));
    const isChosen = first?.id === ownId;
    if (isChosen === this.#isChosen) return;
    this.#isChosen = isChosen;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
