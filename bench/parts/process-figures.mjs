import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

// USER_HZ, which Linux fixes at 100 for what /proc shows on every architecture that Node runs on.
const TICKS_PER_SECOND = 100;
const MICROSECONDS_PER_TICK = 1_000_000 / TICKS_PER_SECOND;
// proc(5): the fields after the command, which may hold spaces: state is the first, utime the twelfth.
const UTIME = 11;
const STIME = 12;
const PARENT = 1;
// proc(5), clear_refs: resets VmHWM to what is resident now.
const RESET_PEAK = '5';

/**
 * CPU time that a process and its living children have used, user and system together, in microseconds.
 * @param {number} pid
 */
export function readCpuMicroseconds(pid) {
  return listTree(pid).reduce((sum, one) => sum + readOwnCpuMicroseconds(one), 0);
}

/** Reads the figures of the process alone. @param {number} pid */
export function readOwnCpuMicroseconds(pid) {
  const fields = readStat(pid);
  return (Number(fields[UTIME]) + Number(fields[STIME])) * MICROSECONDS_PER_TICK;
}

/**
 * Peak resident set of the process tree, in KiB.
 * @param {number} pid
 */
export function readPeakKib(pid) {
  return sumOfStatus(pid, 'VmHWM');
}

/**
 * Resident set of the process tree, in KiB.
 * @param {number} pid
 */
export function readResidentKib(pid) {
  return sumOfStatus(pid, 'VmRSS');
}

/** @param {number} pid */
export function resetPeak(pid) {
  for (const one of listTree(pid)) writeFileSync(`/proc/${one}/clear_refs`, RESET_PEAK);
}

function sumOfStatus(pid, name) {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm');
  return listTree(pid).reduce(
    (sum, one) => sum + Number(line.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0),
    0,
  );
}

/**
 * The process and all below it, parents first.
 * @param {number} pid
 */
export function listTree(pid) {
  const tree = [pid];
  const parents = new Map(listProcesses().map((one) => [one, parentOf(one)]));
  for (const parent of tree) {
    for (const [child, itsParent] of parents) if (itsParent === parent) tree.push(child);
  }
  return tree;
}

function listProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function parentOf(pid) {
  try {
    return Number(readStat(pid)[PARENT]);
  } catch {
    // It has ended since the folder was read.
    return null;
  }
}

function readStat(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
