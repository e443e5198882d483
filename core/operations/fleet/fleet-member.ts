import type { FleetHostStatus, FleetStatus } from '../../contract/fleet-status.js';
import type { Log } from '../../contract/index.js';
import { settleWithin } from '../../lib/promises.js';
import { createLogInterval } from '../../log/log-interval.js';
import type { Leadership } from '../../modules/leadership.js';
import type { FleetHostStore, Heartbeat } from '../../store/fleet-hosts.js';
import type { ModuleOverview } from '../status/module-overview.js';
import { describeFleet, type Fleet } from './fleet.js';
import { readHostId } from './host-id.js';
import { describeServed } from './served-digest.js';

const HEARTBEAT_MS = 2000;
/** Changes that come together, such as those of a release, are published together. Milliseconds. */
const CHANGE_DELAY_MS = 20;
/** The least time between two heartbeats, however many modules change one after the other. */
const MIN_INTERVAL_MS = 100;
/** Beats between two reads of the list. */
const LIST_EVERY = 2;
/** Beats between two removals of hosts that are long gone. */
const PRUNE_EVERY = 30;
/** A store that does not answer does not delay the end of the host for longer. */
const LEAVE_TIMEOUT_MS = 1000;
const WARN_INTERVAL_MS = 60_000;
/** Sessions and approvals end by the clock of the host that they are shown to, so more is reported. */
const MAX_CLOCK_SKEW_MS = 1000;

export interface FleetMemberOptions {
  readonly fleet: string;
  readonly version: string;
  readonly stateDir: string;
  readonly hosts: FleetHostStore;
  readonly overview: ModuleOverview;
  /** One process of the host reports for all. */
  readonly leadership: Leadership;
  /** Why other processes make the host not ready; `null` if they do not. */
  readonly unreadyReason: () => string | null;
  /** @returns removes the listener */
  readonly onChange: (listener: () => void) => () => void;
  /** Called every few seconds with the hosts of the fleet and the id of this one. */
  readonly onList: (hosts: readonly FleetHostStatus[], id: string) => void;
  readonly log: Log;
  /** Milliseconds between heartbeats, default 2000. */
  readonly heartbeatMs?: number;
}

/**
 * This host as a member of its fleet: reports to the store every 2 s, and soon after each change. A store that is
 * lost costs the host nothing but its place in the list.
 */
export class FleetMember implements Fleet {
  readonly #options: FleetMemberOptions;
  readonly #heartbeatMs: number;
  readonly #mayWarn = createLogInterval(WARN_INTERVAL_MS);
  readonly #mayWarnOfClock = createLogInterval(WARN_INTERVAL_MS);
  #clockSkewMs: number | null = null;
  #id: string | null = null;
  /** What the store knows this host to serve; `null` where that is not known. */
  #reported: string | null = null;
  #beats = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the next heartbeat is due, on a monotonic clock. */
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

  /** Of the last heartbeat, for metrics; empty in processes that do not report. */
  get last(): FleetStatus | null {
    const { leadership, fleet } = this.#options;
    return leadership.leads ? describeFleet(fleet, this.#last) : null;
  }

  /** By how much the clock of this host was ahead of the store's at the last heartbeat; `null` before it. */
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

  /** Removes the host from the list: it stops in order, with all of its processes. */
  async leave(): Promise<void> {
    this.close();
    const { hosts, fleet, leadership } = this.#options;
    const id = this.#id;
    if (!leadership.leads || id === null) return;
    const remove = async () => {
      await this.#beating;
      await hosts.remove(fleet, id);
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

  /** A heartbeat that is due earlier stays: changes without end must not postpone it. */
  #beatIn(delayMs: number): void {
    const beatAt = performance.now() + delayMs;
    if (this.#isStopped || this.#beatAt <= beatAt) return;
    clearTimeout(this.#timer);
    this.#beatAt = beatAt;
    // Never rejects.
    this.#timer = setTimeout(() => void this.#beatNext(), delayMs).unref();
  }

  async #beatNext(): Promise<void> {
    // A slow store is not asked again before it answers.
    await this.#beating;
    this.#beatAt = Number.POSITIVE_INFINITY;
    await this.#beat();
    // Nothing is heard of when other workers follow.
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
      const storeTime = await hosts.beat({
        ...{ fleet, version, digest, rejected, workers },
        id: this.#id,
        address: this.#address,
        state: this.#readPhase(),
        serves: this.#reported === digest ? null : serves,
      });
      this.#compareClocks(Date.parse(storeTime), sentAt, Date.now());
      this.#reported = digest;
      this.#beats += 1;
      if (this.#beats % PRUNE_EVERY === 0) await hosts.prune(fleet);
      if (this.#beats % LIST_EVERY === 1) {
        this.#last = await hosts.list(fleet);
        this.#options.onList(this.#last, this.#id);
      }
    } catch (error) {
      this.#reported = null;
      this.#warn(error);
    }
  }

  /** The time of the store is one between sending and receiving. */
  #compareClocks(storeTime: number, sentAt: number, receivedAt: number): void {
    const skewMs = (sentAt + receivedAt) / 2 - storeTime;
    this.#clockSkewMs = skewMs;
    if (Math.abs(skewMs) - (receivedAt - sentAt) / 2 <= MAX_CLOCK_SKEW_MS) return;
    if (!this.#mayWarnOfClock()) return;
    const fields = { skew_ms: Math.round(skewMs) };
    this.#options.log.warn(fields, 'clock differs from that of the store');
  }

  /** A host is ready when all of its workers are. */
  #readPhase(): Heartbeat['state'] {
    const isWaiting = this.#phase === 'ready' && this.#options.unreadyReason() !== null;
    return isWaiting ? 'starting' : this.#phase;
  }

  #warn(error: unknown): void {
    if (this.#mayWarn()) this.#options.log.warn({ err: error }, 'fleet heartbeat failed');
  }
}
