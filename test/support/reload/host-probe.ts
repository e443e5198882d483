import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The resources of a process and the delay of its event loop. */
export interface ProbeFigures {
  readonly number: number;
  /** The time since the previous figures, without the garbage collection for them. Milliseconds. */
  readonly elapsedMs: number;
  readonly busyMs: number;
  readonly longestDelayMs: number;
  /** The memory after garbage collection. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly descriptors: number;
  /** The counts of `process.getActiveResourcesInfo`, by type. */
  readonly resources: Readonly<Record<string, number>>;
}

const file = process.env['HOST_PROBE_FILE'];
if (file !== undefined) probe(file);

/** Preloaded into a host. Writes the figures to the file at each SIGUSR2. */
function probe(file: string): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let number = 0;
  let since = performance.eventLoopUtilization();
  process.on('SIGUSR2', () => {
    number += 1;
    const { active, idle } = performance.eventLoopUtilization(since);
    const longestDelayMs = delay.max / 1e6;
    for (let round = 0; round < 4; round += 1) collect();
    const { heapUsed, rss } = process.memoryUsage();
    const figures: ProbeFigures = {
      number,
      elapsedMs: active + idle,
      busyMs: active,
      longestDelayMs,
      heapBytes: heapUsed,
      residentBytes: rss,
      descriptors: readdirSync('/proc/self/fd').length,
      resources: countNames(process.getActiveResourcesInfo()),
    };
    writeFileSync(`${file}.new`, JSON.stringify(figures));
    renameSync(`${file}.new`, file);
    // Excludes the time of this function, which the histogram records in the next turn of the event loop.
    setTimeout(() => {
      delay.reset();
      since = performance.eventLoopUtilization();
    }, 5);
  });
}

function countNames(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
