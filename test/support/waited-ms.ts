import { readFileSync } from 'node:fs';

const NS_PER_MS = 1e6;

/** Reads how long the main thread of a process was ready to run while others had the processors. Milliseconds. */
export function readWaitedMs(pid: number): number {
  return readSchedule(pid)[1] ?? 0;
}

/** Reads how long the main thread of a process has run. Milliseconds. */
export function readMainThreadMs(pid: number): number {
  return readSchedule(pid)[0] ?? 0;
}

function readSchedule(pid: number): readonly number[] {
  const fields = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return fields.map((nanoseconds) => Number(nanoseconds) / NS_PER_MS);
}
