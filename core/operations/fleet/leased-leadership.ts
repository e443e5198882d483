import type { FleetHostStatus } from '../../contract/fleet-status.js';
import { compareTexts } from '../../lib/compare-texts.js';
import type { FleetLeadership, Leadership } from '../../processes.js';
import { type FleetLeaseStore, LEASE_SECONDS } from '../../store/fleet-lease.js';

const LEASE_MS = LEASE_SECONDS * 1000;
/** A lease with less time left is renewed before it is used. Milliseconds. */
const RENEW_BELOW_MS = LEASE_MS / 2;

interface LeasedLeadershipOptions {
  /** The leadership among the processes of this host. */
  readonly leadership: Leadership;
  readonly leases: FleetLeaseStore;
  readonly fleet: string;
  readonly host: string;
}

/**
 * Leads only in one process of one host of a fleet. The list of hosts says which one should lead, and may be
 * outdated; the lease in the store says which one may act.
 */
export class LeasedLeadership implements FleetLeadership {
  readonly #options: LeasedLeadershipOptions;
  readonly #listeners = new Set<() => void>();
  #isChosen = false;
  /** The end of the lease, on a monotonic clock. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  #taking: Promise<void> | null = null;

  constructor(options: LeasedLeadershipOptions) {
    this.#options = options;
    options.leadership.onChange(() => this.#notify());
  }

  get leads(): boolean {
    return this.#isChosen && this.#options.leadership.leads;
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
  choose(hosts: readonly FleetHostStatus[]): void {
    const [first] = hosts
      .filter(({ state }) => state === 'ready' || state === 'starting')
      .toSorted((a, b) => compareTexts(a.started_at, b.started_at) || compareTexts(a.id, b.id));
    const isChosen = first?.id === this.#options.host;
    if (isChosen === this.#isChosen) return;
    this.#isChosen = isChosen;
    this.#notify();
  }

  async act<T>(ending: AbortController, work: () => Promise<T>): Promise<T | null> {
    if (this.#msLeft < RENEW_BELOW_MS) await this.#take();
    if (this.#msLeft <= 0) return null;
    let timer: NodeJS.Timeout | undefined;
    const renew = () => {
      if (this.#msLeft <= 0) return ending.abort();
      // Without the store, the lease ends.
      if (this.#msLeft < RENEW_BELOW_MS) void this.#take().catch(() => {});
      timer = setTimeout(renew, Math.min(this.#msLeft, RENEW_BELOW_MS / 2));
    };
    renew();
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }

  get #msLeft(): number {
    return this.#heldUntil - performance.now();
  }

  #take(): Promise<void> {
    this.#taking ??= this.#takeNow().finally(() => {
      this.#taking = null;
    });
    return this.#taking;
  }

  /** Counts from before the request, so that the lease ends here before it ends in the store. */
  async #takeNow(): Promise<void> {
    const { leases, fleet, host } = this.#options;
    const askedAt = performance.now();
    const isHeld = await leases.take(fleet, host);
    this.#heldUntil = isHeld ? askedAt + LEASE_MS : Number.NEGATIVE_INFINITY;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
