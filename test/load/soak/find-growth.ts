import type { ProbeFigures } from '../../support/reload/host-probe.js';

/** The resources of the host after garbage collection, and the number of requests so far. */
export interface Sample extends ProbeFigures {
  readonly requests: number;
}

const MIB = 1024 * 1024;
/** Normal variation of a heap under load. A leak of 1 KiB per request exceeds it after 10,000 requests. */
const HEAP_SLACK_BYTES = 8 * MIB;
/** The buffer of `GET /calls` grows to this number of calls of this size, which is not a leak. */
const KEPT_CALLS = 10_000;
const KEPT_CALL_BYTES = 1024;
/** Normal variation of the number of connections. */
const HANDLE_SLACK = 40;

/** Lists what grew from the first third of the run to the last. */
export function findGrowth(samples: readonly Sample[]): string[] {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const [first, last] = [samples.slice(0, third), samples.slice(-third)];
  const [before, after] = [first, last].map((part) => ({
    heap: median(part, ({ heapBytes }) => heapBytes),
    descriptors: median(part, ({ descriptors }) => descriptors),
    resources: median(part, countResources),
    kept: Math.min(
      KEPT_CALLS,
      median(part, ({ requests }) => requests),
    ),
  })) as [Figures, Figures];
  const allowed = HEAP_SLACK_BYTES + (after.kept - before.kept) * KEPT_CALL_BYTES;
  const grown: string[] = [];
  if (after.heap > before.heap + allowed) {
    grown.push(`heap: ${toMib(before.heap)} to ${toMib(after.heap)} MiB`);
  }
  for (const subject of ['descriptors', 'resources'] as const) {
    if (after[subject] <= before[subject] + HANDLE_SLACK) continue;
    grown.push(`${subject}: ${before[subject]} to ${after[subject]}`);
  }
  return grown;
}

interface Figures {
  readonly heap: number;
  readonly descriptors: number;
  readonly resources: number;
  readonly kept: number;
}

export function countResources({ resources }: ProbeFigures): number {
  return Object.values(resources).reduce((sum, count) => sum + count, 0);
}

export function toMib(bytes: number): number {
  return Math.round((10 * bytes) / MIB) / 10;
}

function median(samples: readonly Sample[], read: (sample: Sample) => number): number {
  const sorted = samples.map(read).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
