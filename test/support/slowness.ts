const ITEMS = 60_000;
const RUNS = 5;
/** The duration of one run on the machine on which the time limits were chosen. */
const REFERENCE_MS = 150;
/** In CI, whose machines others use as well, only what is slower several times over is found. */
const LEAST = process.env['CI'] === undefined ? 1 : 2.5;

let factor: number | undefined;

/**
 * Tells how many times longer this machine takes for a fixed computation than the one on which limits of time
 * were chosen; at least 1, in CI more. Such a limit is multiplied by it.
 */
export function slowness(): number {
  factor ??= measureSlowness();
  return factor;
}

/** The same for this moment, since other processes come and go. */
export function measureSlowness(): number {
  return LEAST * Math.max(1, measure() / REFERENCE_MS);
}

/** The median of some runs. Milliseconds. */
function measure(): number {
  const durations = Array.from({ length: RUNS }, () => {
    const startedAt = performance.now();
    compute();
    return performance.now() - startedAt;
  });
  return durations.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
}

function compute(): void {
  const items = Array.from({ length: ITEMS }, (_, id) => ({
    id,
    name: `n${id}`,
    tags: ['a', 'b'],
  }));
  const text = JSON.stringify(items);
  for (let round = 0; round < 2; round += 1) JSON.parse(text);
}
