import type { FleetHostStatus, FleetStatus } from '../../contract/fleet-status.js';
import type { Log } from '../../contract/index.js';
import { settleWithin } from '../../lib/promises.js';
import { createLogInterval } from '../../log/log-interval.js';
import type { Leadership } from '../../processes.js';
import type { FleetHostStore, Heartbeat } from '../../store/fleet-hosts.js';
import { describeStoreFailure } from '../../store/store-unavailable.js';
import type { ModuleOverview } from '../status/module-overview.js';
import { describeFleet, type Fleet } from './fleet.js';
import { readHostId } from './host-id.js';
import { describeServed } from './served-digest.js';

const HEARTBEAT_MS = 2000;
/** Publishes changes that occur together, such as those of a release, together. Milliseconds. */
const CHANGE_DELAY_MS = 20;
/** The minimum time between two heartbeats, regardless of the number of changes. Milliseconds. */
const MIN_INTERVAL_MS = 100;
/** The heartbeats between two reads of the list. */
const LIST_EVERY = 2;
/** The heartbeats between two removals of hosts that were lost long ago. */
const PRUNE_EVERY = 150;
/** Limits how long a store that does not respond delays the end of the host. Milliseconds. */
const LEAVE_TIMEOUT_MS = 1000;
const WARN_INTERVAL_MS = 60_000;
/**
 * A larger skew is reported: sessions and approvals end by the clock of the host that shows them.
 */
const MAX_CLOCK_SKEW_MS = 1000;

interface FleetMemberOptions {
  readonly fleet: string;
  readonly version: string;
  readonly stateDir: string;
  readonly hosts: FleetHostStore;
  readonly overview: ModuleOverview;
  /** The leadership among the processes of the host: one process reports for all. */
  readonly leadership: Leadership;
  /** The reason why other processes make the host not ready; `null` if they do not. */
  readonly unreadyReason: () => string | null;
  /** @returns removes the listener */
  readonly onChange: (listener: () => void) => () => void;
  /** Called every few seconds with the hosts of the fleet. */
  readonly onList: (hosts: readonly FleetHostStatus[]) => void;
  readonly log: Log;
  /** Milliseconds between heartbeats, default 2000. */
  readonly heartbeatMs?: number;
}

/**
 * This host as a member of its fleet. Reports to the store every 2 s, and soon after each change.
 * Without the store, the host only loses its place in the list.
 */
export class FleetMember implements Fleet {
  readonly #options: FleetMemberOptions;
  readonly #heartbeatMs: number;
  readonly #mayWarn = createLogInterval(WARN_INTERVAL_MS);
  readonly #mayWarnOfOther = createLogInterval(WARN_INTERVAL_MS);
  readonly #mayWarnOfClock = createLogInterval(WARN_INTERVAL_MS);
  #clockSkewMs: number | null = null;
  #id: string | null = null;
  /** The modules that the store has for this host; `null` if unknown. */
  #reported: string | null = null;
  /** When this host has started, by the clock of the store; `null` before the first heartbeat. */
  #startedAt: string | null = null;
  #beats = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The time of the next heartbeat, on a monotonic clock. */
  #beatAt = Number.POSITIVE_INFINITY;
  #beganAt = Number.NEGATIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** Whether workers may have served different versions at the last heartbeat. */
  #isMixed = false;
  #beating: Promise<void> | null = null;
  #isStopped = false;
  #phase: Heartbeat['state'] = 'starting';
  #address = '';
  #last: readonly FleetHostStatus[] = [];

  constructor(options: FleetMemberOptions) {
    this.#options = options;
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    const stops = [
      options.onChange(() => this.#beatAfterChange()),
      options.leadership.onChange(() => this.#beatIn(0)),
    ];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
    this.#beatIn(0);
  }

  readonly #stopListening: () => void;

  /** The status at the last heartbeat, for metrics; empty in processes that do not report. */
  get last(): FleetStatus | null {
    const { leadership, fleet } = this.#options;
    return leadership.leads ? describeFleet(fleet, this.#last) : null;
  }

  /**
   * How far the clock of this host was ahead of the store's at the last heartbeat; `null` before
   * it. Milliseconds.
   */
  get clockSkewMs(): number | null {
    return this.#options.leadership.leads ? this.#clockSkewMs : null;
  }

  async read(served?: string): Promise<FleetStatus> {
    const { hosts, fleet } = this.#options;
    return describeFleet(fleet, await hosts.list(fleet, served));
  }

  /** @param address the URL that the host listens on */
  listens(address: string): void {
    this.#phase = 'ready';
    this.#address = address;
    this.#beatIn(0);
  }

  drains(): void {
    this.#phase = 'draining';
    this.#beatIn(0);
  }

  /** Removes the host from the list when it stops in order, with all of its processes. */
  async leave(): Promise<void> {
    this.close();
    const { hosts, fleet, leadership } = this.#options;
    const id = this.#id;
    if (!leadership.leads || id === null) return;
    const remove = async () => {
      await this.#beating;
      if (this.#startedAt !== null) await hosts.remove(fleet, id, this.#startedAt);
    };
    await settleWithin(
      remove().catch((error: unknown) => this.#warn(error)),
      LEAVE_TIMEOUT_MS,
    );
  }

  close(): void {
    this.#isStopped = true;
    this.#stopListening();
    clearTimeout(this.#timer);
  }

  #beatAfterChange(): void {
    this.#changedAt = performance.now();
    const restMs = this.#beganAt + MIN_INTERVAL_MS - this.#changedAt;
    this.#beatIn(Math.max(CHANGE_DELAY_MS, restMs));
  }

  /** Keeps an earlier scheduled heartbeat: endless changes must not postpone it. */
  #beatIn(delayMs: number): void {
    const beatAt = performance.now() + delayMs;
    if (this.#isStopped || this.#beatAt <= beatAt) return;
    clearTimeout(this.#timer);
    this.#beatAt = beatAt;
    // Never rejects.
    this.#timer = setTimeout(() => void this.#beatNext(), delayMs).unref();
  }

  async #beatNext(): Promise<void> {
    // Waits for a slow store before the next request to it.
    await this.#beating;
    this.#beatAt = Number.POSITIVE_INFINITY;
    await this.#beat();
    // No event reports that other workers have caught up.
    const isFollowing = this.#isMixed && performance.now() - this.#changedAt < HEARTBEAT_MS;
    this.#beatIn(isFollowing ? MIN_INTERVAL_MS : this.#heartbeatMs);
  }

  #beat(): Promise<void> {
    this.#beganAt = performance.now();
    this.#beating = this.#send().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  async #send(): Promise<void> {
    const { fleet, version, hosts, overview, leadership, stateDir } = this.#options;
    if (!leadership.leads) return;
    try {
      this.#id ??= await readHostId(stateDir);
      const { modules, workers } = await overview.read();
      this.#isMixed = workers > 1 && modules.some(({ state }) => state === 'waiting');
      const { digest, rejected, serves } = describeServed(modules);
      const sentAt = Date.now();
      const stored = await hosts.beat({
        ...{ fleet, version, digest, rejected, workers },
        id: this.#id,
        address: this.#address,
        state: this.#readPhase(),
        serves: this.#reported === digest ? null : serves,
      });
      this.#compareClocks(Date.parse(stored.at), sentAt, Date.now());
      if (!stored.isComplete) this.#startedAt = null;
      this.#startedAt ??= stored.startedAt;
      if (stored.startedAt !== this.#startedAt) this.#warnOfOther();
      this.#reported = stored.isComplete ? digest : null;
      this.#beats += 1;
      if (this.#beats % PRUNE_EVERY === 0) await hosts.prune(fleet);
      if (this.#beats % LIST_EVERY === 1) {
        this.#last = await hosts.list(fleet);
        this.#options.onList(this.#last);
      }
    } catch (error) {
      this.#reported = null;
      // A host that stops closes its store.
      if (!this.#isStopped) this.#warn(error);
    }
  }

  /** Assumes that the store read its clock between sending and receiving. */
  #compareClocks(storeTime: number, sentAt: number, receivedAt: number): void {
    const skewMs = (sentAt + receivedAt) / 2 - storeTime;
    this.#clockSkewMs = skewMs;
    if (Math.abs(skewMs) - (receivedAt - sentAt) / 2 <= MAX_CLOCK_SKEW_MS) return;
    if (!this.#mayWarnOfClock()) return;
    const fields = { skew_ms: Math.round(skewMs) };
    this.#options.log.warn(fields, 'clock differs from that of the store');
  }

  /** A copied state folder, or a host that replaces this one before it has stopped. */
  #warnOfOther(): void {
    if (!this.#mayWarnOfOther()) return;
    this.#options.log.warn({ id: this.#id }, 'another host of the fleet has the same id');
  }

  /** A host is ready when all of its workers are. */
  #readPhase(): Heartbeat['state'] {
    const isWaiting = this.#phase === 'ready' && this.#options.unreadyReason() !== null;
    return isWaiting ? 'starting' : this.#phase;
  }

  #warn(error: unknown): void {
    if (!this.#mayWarn()) return;
    this.#options.log.warn(describeStoreFailure(error), 'fleet heartbeat failed');
  }
}
