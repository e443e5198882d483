// Preloaded into a host that a benchmark observes: reports its CPU time, and its memory after a collection.
// With `node --expose-gc --import …` and an IPC channel.
import { openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const SCHEDULED = openSync(`/proc/${process.pid}/task/${process.pid}/schedstat`);
const NANOSECONDS_PER_MS = 1e6;
const WATCH_MS = 1;

/** One buffer for all reads, because garbage would lengthen the turns. */
const bytes = Buffer.alloc(64);
let longestTurnMs = 0;
let watching;

// Threads load this file too.
if (isMainThread) {
  process.on('message', answer);
  process.channel.unref();
}

function answer(request) {
  if (request === 'watch') {
    longestTurnMs = 0;
    watching = watchTurns();
  }
  if (request === 'memory') {
    globalThis.gc();
    globalThis.gc();
  }
  const { user, system } = process.cpuUsage();
  const { heapUsed, external } = process.memoryUsage();
  const mainMs = readMainMs();
  if (request !== 'watch') clearInterval(watching);
  process.send({ cpuMs: (user + system) / 1000, mainMs, longestTurnMs, bytes: heapUsed + external });
}

/** CPU time of the main thread. */
function readMainMs() {
  const length = readSync(SCHEDULED, bytes, 0, bytes.length, 0);
  return Number(bytes.latin1Slice(0, length).split(' ')[0]) / NANOSECONDS_PER_MS;
}

/**
 * Turns of the event loop by their CPU time: the wait for a core does not depend on the host. A timer sees each of
 * more than 1 ms; a turn that begins the next one at once would keep the loop busy.
 */
function watchTurns() {
  let before = readMainMs();
  return setInterval(() => {
    const now = readMainMs();
    longestTurnMs = Math.max(longestTurnMs, now - before);
    before = now;
  }, WATCH_MS);
}
