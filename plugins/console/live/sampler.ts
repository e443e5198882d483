import type { HostSnapshot, ModuleSnapshot } from '../../../core/contract/index.js';

export const SAMPLE_MS = 10_000;
/** The samples of 15 minutes. */
const MAX_SAMPLES = 90;
/** The maximum number of modules with separate samples: those that were called. */
const MAX_MODULES = 1000;

/** The counts of one interval. */
export interface Sample {
  /** The end of the interval. Milliseconds since 1970. */
  readonly at: number;
  readonly calls: number;
  readonly failed: number;
  /** The number at the end of the interval. */
  readonly in_flight: number;
}

type Totals = Pick<ModuleSnapshot['counts'], 'calls' | 'failed'>;

/** Computes rates of the last 15 minutes from the counts of snapshots. */
export class Sampler {
  readonly #samples: Sample[] = [];
  readonly #byModule = new Map<string, Sample[]>();
  #before: ReadonlyMap<string, Totals> | null = null;

  /** @returns the new sample; `null` for the first snapshot, which has no predecessor */
  add({ at, modules }: HostSnapshot): Sample | null {
    const before = this.#before;
    const current = new Map(modules.map((module) => [nameOf(module), module.counts]));
    this.#before = current;
    if (before === null) return null;
    const total = { calls: 0, failed: 0, in_flight: 0 };
    for (const module of modules) {
      const sample = compare(module, before.get(nameOf(module)), at);
      total.calls += sample.calls;
      total.failed += sample.failed;
      total.in_flight += sample.in_flight;
      this.#addOfModule(nameOf(module), sample);
    }
    for (const name of this.#byModule.keys()) if (!current.has(name)) this.#byModule.delete(name);
    const sample = { at, ...total };
    push(this.#samples, sample);
    return sample;
  }

  /** Lists samples, oldest first. @param module `null` for the sum of all */
  list(module: string | null): readonly Sample[] {
    return module === null ? this.#samples : (this.#byModule.get(module) ?? []);
  }

  #addOfModule(name: string, sample: Sample): void {
    const samples = this.#byModule.get(name);
    if (samples !== undefined) push(samples, sample);
    else if (sample.calls > 0 && this.#byModule.size < MAX_MODULES) {
      this.#byModule.set(name, [sample]);
    }
  }
}

function nameOf({ name, file }: ModuleSnapshot): string {
  return name ?? file;
}

/** Counts restart at 0 with each new version of a module. */
function compare({ counts }: ModuleSnapshot, before: Totals | undefined, at: number): Sample {
  const isNew = before === undefined || counts.calls < before.calls;
  return {
    at,
    calls: counts.calls - (isNew ? 0 : before.calls),
    failed: Math.max(0, counts.failed - (isNew ? 0 : before.failed)),
    in_flight: counts.inFlight,
  };
}

function push(samples: Sample[], sample: Sample): void {
  samples.push(sample);
  if (samples.length > MAX_SAMPLES) samples.shift();
}
