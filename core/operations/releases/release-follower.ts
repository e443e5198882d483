import type { Log } from '../../contract/index.js';
import { compareVersions } from '../../lib/compare-versions.js';
import { cleanDetail } from '../../lib/failure-detail.js';
import { settleWithin } from '../../lib/promises.js';
import { createLogInterval } from '../../log/log-interval.js';
import { REJECTED_STATES } from '../../modules/module-record.js';
import { ReleaseFolder } from '../../modules/releases/release-folder.js';
import type { Leadership } from '../../processes.js';
import { RELEASE_CHANGE } from '../../store/database.js';
import type { CanaryFigures, ReleaseHost, ReleaseState } from '../../store/releases/releases.js';
import type { Store } from '../../store/store.js';
import { describeStoreFailure } from '../../store/store-unavailable.js';
import type { ModuleEntry, ModuleOverview } from '../status/module-overview.js';
import { type Baseline, countSince, takeBaseline } from './canary-figures.js';
import { decideCanary } from './decide-canary.js';
import { readStoredFiles } from './release-thread.js';

/** While the host waits for something: figures of a canary, its first release, the store. */
const POLL_MS = 1000;
/** The store announces changes. */
const IDLE_POLL_MS = 30_000;
/** While the modules of a release are opened. */
const APPLY_POLL_MS = 250;
/** How long the start waits for the store before the local copy is used. Milliseconds. */
const START_TIMEOUT_MS = 5000;
const WARN_INTERVAL_MS = 60_000;
/** The time after which an unchanged report is repeated. Milliseconds. */
const REPORT_INTERVAL_MS = 60_000;
const LOST = 'an active release: the store has none, so that the last one is kept';

interface ReleaseFollowerOptions {
  readonly store: Store;
  /** The fleet; `''` for a host without one. */
  readonly fleet: string;
  /** The id of this host in the fleet. */
  readonly host: string;
  readonly stateDir: string;
  /** The version of modgate. */
  readonly version: string;
  /** The leadership among the processes of the host: one process follows for all. */
  readonly leadership: Leadership;
  readonly log: Log;
}

export interface ServedRelease {
  /** The release; `null` before the first one. */
  readonly release: string | null;
  readonly since: Date | null;
  /** The reason why the host does not serve the expected release; `null` if it does. */
  readonly problem: string | null;
  /** Releases that the host could not serve (`rejected`), and failures to read the store (`store`). */
  readonly failures: { readonly rejected: number; readonly store: number };
}

/** Keeps the folder of descriptors of this host as the release that the host should serve. */
export class ReleaseFollower {
  readonly #options: ReleaseFollowerOptions;
  readonly #folder: ReleaseFolder;
  readonly #mayWarn = createLogInterval(WARN_INTERVAL_MS);
  #overview: ModuleOverview | null = null;
  #timer: NodeJS.Timeout | undefined;
  #syncing: Promise<unknown> | null = null;
  #isAgain = false;
  #isClosed = false;
  #problem: string | null = null;
  /** The reason why the host does not serve a module of the release; `null` if it serves all. */
  #rejection: string | null = null;
  /** Whether the store has answered that there is no release. */
  #hasNone = false;
  #served: Pick<ServedRelease, 'release' | 'since'> = { release: null, since: null };
  /** The release whose modules all processes serve. */
  #applied: string | null = null;
  #isApplied: ((release: string) => Promise<boolean>) | null = null;
  readonly #failures = { rejected: 0, store: 0 };
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** The last report that the store accepted. */
  #reported: string | null = null;
  /** The counts when the canary began here; `null` for a host that serves none. */
  #baseline: Baseline | null = null;
  readonly #stops: (() => void)[] = [];

  constructor(options: ReleaseFollowerOptions) {
    this.#options = options;
    this.#folder = new ReleaseFolder(options.stateDir);
  }

  /**
   * Prepares the folder for reading: with the release of the store, otherwise with the local copy.
   * Never rejects.
   */
  async prepare(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#folder.prepare();
      this.#syncing = this.#sync().finally(() => {
        this.#syncing = null;
      });
      await settleWithin(this.#syncing, START_TIMEOUT_MS);
      await this.#note(await this.#folder.read());
    } catch (error) {
      log.error({ err: error }, 'folder of releases cannot be written');
    }
  }

  /**
   * Starts to follow the releases.
   * @param isApplied whether all processes serve the modules of a release
   */
  start(overview: ModuleOverview, isApplied: (release: string) => Promise<boolean>): void {
    const { store, leadership } = this.#options;
    this.#overview = overview;
    this.#isApplied = isApplied;
    this.#stops.push(
      store.onConfigChange((changed) => {
        if (changed === null || changed === RELEASE_CHANGE) this.#syncIn(0);
      }),
      leadership.onChange(() => this.#syncIn(0)),
    );
    // Never rejects.
    void Promise.resolve(this.#syncing).then(() => this.#syncIn(0));
  }

  /** Whether the host has no release although the store may have one. */
  get lacksRelease(): boolean {
    return this.#served.release === null && !this.#hasNone;
  }

  /** The served release; `null` in processes that do not follow for the host. */
  get status(): ServedRelease | null {
    if (!this.#options.leadership.leads) return null;
    return {
      ...this.#served,
      release: this.#applied,
      problem: this.#problem,
      failures: this.#failures,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const stop of this.#stops) stop();
    await this.#syncing;
  }

  #syncIn(delayMs: number): void {
    if (this.#isClosed) return;
    if (this.#syncing !== null) {
      this.#isAgain ||= delayMs === 0;
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // Never rejects.
      this.#syncing = this.#follow();
    }, delayMs).unref();
  }

  async #follow(): Promise<void> {
    this.#isAgain = false;
    let isIdle = true;
    // Until there is a release, every process serves none.
    if (this.#options.leadership.leads || this.#served.release === null) {
      isIdle = await this.#sync();
    }
    this.#syncing = null;
    if (this.#isAgain) this.#syncIn(0);
    else if (this.#applied !== this.#served.release) this.#syncIn(APPLY_POLL_MS);
    else this.#syncIn(isIdle ? IDLE_POLL_MS : POLL_MS);
  }

  /**
   * Never rejects: without the store, the host keeps its release.
   * @returns whether nothing more can change before the store announces it
   */
  async #sync(): Promise<boolean> {
    const { store, fleet, log } = this.#options;
    try {
      const state = await store.releases.readState(fleet);
      await this.#note(await this.#apply(state));
      await this.#noteApplied();
      this.#rejection = await this.#findRejection();
      await this.#report(state);
      if (state.canary !== null) await this.#decide(state);
      const isServed = this.#problem === null && this.#rejection === null;
      return state.canary === null && isServed;
    } catch (error) {
      this.#reported = null;
      this.#failures.store += 1;
      if (this.#mayWarn()) log.warn(describeStoreFailure(error), 'releases cannot be followed');
      return false;
    }
  }

  /** @returns the release that is served now */
  async #apply({ active, canary }: ReleaseState): Promise<string | null> {
    const { host, log } = this.#options;
    const isCanary = canary?.hosts.includes(host) === true;
    const expected = isCanary ? canary.release : active;
    this.#hasNone = expected === null;
    const served = await this.#folder.read();
    if (expected === served) {
      this.#problem = null;
      if (!isCanary) this.#baseline = null;
      // The host, or the process that reports, has started after the canary began.
      else this.#baseline ??= takeBaseline(canary.release, await this.#readModules(), false);
      return served;
    }
    const problem =
      expected === null ? await this.#drop(served, canary) : await this.#use(expected, isCanary);
    // It must not name the kept release: a publish --wait of the same one would take it for a rejection.
    const report = problem === null || expected === null ? problem : `${expected} ${problem}`;
    if (report !== null && report !== this.#problem) {
      this.#failures.rejected += 1;
      log.error({ release: expected, reason: problem, served }, 'release not served');
    }
    this.#problem = report;
    return problem === null ? expected : served;
  }

  /**
   * Serves nothing if the served release is the first one, as a canary of others or one that went back.
   * @returns the reason why it is kept: the store has lost its releases, or another one is used
   */
  async #drop(served: string | null, canary: ReleaseState['canary']): Promise<string | null> {
    const { store, fleet } = this.#options;
    const release = served === null ? null : await store.releases.get(fleet, served);
    const outcome = release?.verdict?.outcome ?? 'released';
    if (served !== canary?.release && outcome === 'released') return LOST;
    await this.#folder.useNothing();
    return null;
  }

  /** @returns the reason why this host cannot serve the release; `null` if it can */
  async #use(id: string, isCanary: boolean): Promise<string | null> {
    const { store, fleet, version } = this.#options;
    const release = await store.releases.get(fleet, id);
    if (release === null) return 'is not in the store';
    const { least_version } = release;
    if (compareVersions(version, least_version) < 0) {
      return `requires modgate ${least_version}, and this host is ${version}`;
    }
    const files = await readStoredFiles(store.releases, fleet, release);
    if (files === null) return 'has another content than was published';
    const modules = await this.#readModules();
    await this.#folder.use(id, files);
    this.#baseline = isCanary ? takeBaseline(id, modules, true) : null;
    return null;
  }

  async #note(release: string | null): Promise<void> {
    if (release === this.#served.release && this.#served.since !== null) return;
    this.#served = { release, since: release === null ? null : await this.#folder.readSince() };
  }

  /** A large module may need seconds until it serves. */
  async #noteApplied(): Promise<void> {
    const { release } = this.#served;
    if (release === this.#applied || !this.#options.leadership.leads) return;
    if (release !== null && (await this.#isApplied?.(release)) !== true) return;
    this.#applied = release;
    const canary = this.#baseline !== null;
    if (release !== null) this.#options.log.info({ release, canary }, 'release served');
  }

  async #findRejection(): Promise<string | null> {
    const release = this.#applied;
    if (release === null || release !== this.#served.release) return null;
    const rejected = (await this.#readModules()).find(({ state }) => REJECTED_STATES.has(state));
    if (rejected === undefined) return null;
    const { name, file, reason, state } = rejected;
    return `${name ?? file} of ${release}: ${cleanDetail(reason ?? state)}`;
  }

  async #report({ canary }: ReleaseState): Promise<void> {
    const { store, fleet, host, leadership } = this.#options;
    if (!leadership.leads || this.#overview === null) return;
    // Other hosts remove the report of a host that has been silent for long.
    if (performance.now() - this.#reportedAt >= REPORT_INTERVAL_MS) this.#reported = null;
    const release = this.#applied;
    const figures = canary === null ? null : await this.#count(Object.keys(canary.rules));
    const problem = this.#problem ?? this.#rejection;
    const row: ReleaseHost = { host, release, problem, figures };
    const text = JSON.stringify(row);
    if (text === this.#reported) return;
    await store.releases.report(fleet, row);
    this.#reported = text;
    this.#reportedAt = performance.now();
  }

  async #count(names: readonly string[]): Promise<ReleaseHost['figures']> {
    const baseline = this.#baseline;
    if (baseline === null) return null;
    const figures: CanaryFigures = countSince(baseline, await this.#readModules(), names);
    return { release: baseline.release, ...figures };
  }

  /** Any host decides; the store accepts one verdict. */
  async #decide({ canary, now }: ReleaseState): Promise<void> {
    const { store, fleet, leadership, log } = this.#options;
    if (canary === null || this.#overview === null || !leadership.leads) return;
    // Locks only if a verdict is due, which is then decided again by what the store has.
    if (decideCanary(canary, await store.releases.listHosts(fleet), now) === null) return;
    const { release } = canary;
    const verdict = await store.releases.endCanary(fleet, release, decideCanary, (decided) => ({
      actor: { kind: 'system', id: 'modgate' },
      module: '',
      permission: '',
      operation: 'release_verdict',
      target: `${release} ${decided?.outcome}`,
      requestId: '',
      correlationId: '',
    }));
    if (verdict !== null) log.info({ release: canary.release, ...verdict }, 'canary decided');
  }

  async #readModules(): Promise<readonly ModuleEntry[]> {
    return (await this.#overview?.read())?.modules ?? [];
  }
}
