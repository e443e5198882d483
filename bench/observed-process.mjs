// Preloaded into a host that a benchmark observes: reports its CPU time, and its memory after a collection.
// With `node --expose-gc --import …` and an IPC channel.
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const SCHEDULED = `/proc/${process.pid}/task/${process.pid}/schedstat`;
const NANOSECONDS_PER_MS = 1e6;

let longestTurnMs = 0;
let isWatching = false;

// Threads load this file too.
if (isMainThread) {
  process.on('message', answer);
  process.channel.unref();
}

function answer(request) {
  if (request === 'watch') {
    longestTurnMs = 0;
    isWatching = true;
    watchTurns(readMainMs());
  }
  if (request === 'memory') {
    globalThis.gc();
    globalThis.gc();
  }
  const { user, system } = process.cpuUsage();
  const { heapUsed, external } = process.memoryUsage();
  const mainMs = readMainMs();
  if (request !== 'watch') isWatching = false;
  process.send({ cpuMs: (user + system) / 1000, mainMs, longestTurnMs, bytes: heapUsed + external });
}

/** CPU time of the main thread. */
function readMainMs() {
  return Number(readFileSync(SCHEDULED, 'latin1').split(' ')[0]) / NANOSECONDS_PER_MS;
}

/** Each turn of the event loop, by its CPU time: the wait for a core does not depend on the host. */
function watchTurns(before) {
  if (!isWatching) return;
  setImmediate(() => {
    const now = readMainMs();
    longestTurnMs = Math.max(longestTurnMs, now - before);
    watchTurns(now);
  });
}
