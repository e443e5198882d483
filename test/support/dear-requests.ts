import { call } from './http/call.js';
import { measureSlowness, slowness } from './slowness.js';
import type { HostProcess } from './start-host.js';
import { readMainThreadMs } from './waited-ms.js';

const ROUNDS = 5;

/** The requests that cost more, each with its CPU time. */
export interface DearRequests {
  readonly problems: readonly string[];
  /** The dearest request, whether or not it is too dear. */
  readonly dearest: string;
}

/**
 * Measures the CPU time of the main thread of the host for each request, up to its record.
 * A request is repeated while it costs too much: each round includes the work of others.
 */
export async function findDearRequests(
  host: HostProcess,
  requests: Iterable<readonly [name: string, send: () => Promise<unknown>]>,
  maxMs: number,
): Promise<DearRequests> {
  const problems: string[] = [];
  let [dearest, dearestMs] = ['', 0];
  for (const [name, send] of requests) {
    let ms = Number.POSITIVE_INFINITY;
    let most = maxMs * slowness();
    for (let round = 0; round < ROUNDS && ms > most; round += 1) {
      // Other processes of a busy machine come and go.
      if (round > 0) most = Math.max(most, maxMs * measureSlowness());
      const before = readMainThreadMs(host.pid);
      await send();
      // What follows a response is done before the next one.
      await call(host, { target: '/livez', as: null });
      ms = Math.min(ms, readMainThreadMs(host.pid) - before);
    }
    const described = `${name}: ${ms.toFixed(0)} ms`;
    if (ms > most) problems.push(described);
    if (ms > dearestMs) [dearest, dearestMs] = [described, ms];
  }
  return { problems, dearest };
}
