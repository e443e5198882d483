import { isDeepStrictEqual } from 'node:util';
import type {
  HostApi,
  HostSnapshot,
  Log,
  ModuleSnapshot,
  Scope,
} from '../../../core/contract/index.js';
import { forEachInSlices } from '../../shared/slices.js';
import { hashList } from './list-hash.js';
import { SAMPLE_MS, type Sample, Sampler } from './sampler.js';

/** How often counts are read while a page is open. */
const COUNTS_MS = 2000;

type Counts = readonly [
  calls: number,
  failed: number,
  inFlight: number,
  queued: number,
  streams: number,
];

/** The changes between two snapshots. */
export interface FeedUpdate {
  readonly at: number;
  readonly changed: readonly ModuleSnapshot[];
  /** The files of removed modules. */
  readonly removed: readonly string[];
  readonly counts: ReadonlyMap<string, Counts>;
  readonly sample: Sample | null;
}

interface HostFeedOptions {
  readonly host: Pick<HostApi, 'snapshot' | 'onChange'>;
  readonly log: Log;
  readonly scope: Scope;
}

/** Compares snapshots of the host once for all streams. */
export class HostFeed {
  readonly sampler = new Sampler();
  readonly #options: HostFeedOptions;
  readonly #listeners = new Set<(update: FeedUpdate) => void>();
  #last: HostSnapshot | null = null;
  #hash: { readonly of: HostSnapshot; readonly value: number } | null = null;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(options: HostFeedOptions) {
    const { host, scope } = options;
    this.#options = options;
    const stop = host.onChange(() => {
      if (this.#listeners.size > 0) void this.read();
    });
    const timer = setInterval(() => void this.#tick(), COUNTS_MS).unref();
    scope.defer(() => {
      stop();
      clearInterval(timer);
    });
    // Later changes are differences from this snapshot, which the first page reads.
    void this.read();
  }

  /** Returns a function that removes the listener. */
  follow(listener: (update: FeedUpdate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The hash of the modules after the last update; `null` before the first snapshot. */
  get listHash(): number | null {
    if (this.#last === null) return null;
    if (this.#hash?.of !== this.#last) {
      this.#hash = { of: this.#last, value: hashList(this.#last.modules, this.#last.ignored) };
    }
    return this.#hash.value;
  }

  /** Never rejects. */
  read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Sends samples only while a page is open. */
  async #tick(): Promise<void> {
    if (this.#listeners.size > 0 || this.#isSampleDue()) await this.read();
  }

  #isSampleDue(): boolean {
    return performance.now() - this.#sampledAt >= SAMPLE_MS - COUNTS_MS / 2;
  }

  async #read(): Promise<void> {
    const { host, log } = this.#options;
    try {
      const snapshot = await host.snapshot();
      const isSampleDue = this.#isSampleDue();
      const sample = isSampleDue ? this.sampler.add(snapshot) : null;
      if (isSampleDue) this.#sampledAt = performance.now();
      const last = this.#last;
      this.#last = snapshot;
      if (last === null) return;
      const update = await compareSnapshots(last, snapshot, sample);
      for (const listener of [...this.#listeners]) listener(update);
    } catch (error) {
      log.warn({ err: error }, 'console could not read the state of the host');
    }
  }
}

/** Compares thousands of modules without blocking the event loop. */
async function compareSnapshots(
  before: HostSnapshot,
  { at, modules }: HostSnapshot,
  sample: Sample | null,
): Promise<FeedUpdate> {
  const old = new Map(before.modules.map((module) => [module.file, module]));
  const changed: ModuleSnapshot[] = [];
  const counts = new Map<string, Counts>();
  await forEachInSlices(modules, (module) => {
    const last = old.get(module.file);
    old.delete(module.file);
    if (last === undefined || !isSame(last, module)) changed.push(module);
    else if (module.name !== null && !areSame(countsOf(last), countsOf(module))) {
      counts.set(module.name, countsOf(module));
    }
    return true;
  });
  return { at, changed, removed: [...old.keys()], counts, sample };
}

/** Excludes the counts: the digest covers the descriptor and the manifest. */
function isSame(last: ModuleSnapshot, module: ModuleSnapshot): boolean {
  return (
    last.name === module.name &&
    last.state === module.state &&
    last.since === module.since &&
    last.reason === module.reason &&
    last.hint === module.hint &&
    last.configDigest === module.configDigest &&
    isDeepStrictEqual(last.endpoints, module.endpoints)
  );
}

function countsOf({ counts }: ModuleSnapshot): Counts {
  return [counts.calls, counts.failed, counts.inFlight, counts.queued, counts.streams ?? 0];
}

function areSame(counts: Counts, others: Counts): boolean {
  return counts.every((count, index) => count === others[index]);
}
