import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a process holds, and what its event loop did since the figures before. */
export interface ProbeFigures {
  readonly number: number;
  /** Since the figures before, the collection of garbage for them left out. Milliseconds. */
  readonly elapsedMs: number;
  readonly busyMs: number;
  readonly longestDelayMs: number;
  /** After garbage collection. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly descriptors: number;
  /** How many of each of `process.getActiveResourcesInfo`. */
  readonly resources: Readonly<Record<string, number>>;
}

const file = process.env['HOST_PROBE_FILE'];
if (file !== undefined) probe(file);

/** To be preloaded into a host: at each SIGUSR2 the figures are in the file. */
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
    // What it takes to find out is not counted. The histogram counts what is blocked at the next turn.
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
