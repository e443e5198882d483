import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;

/** Whether processes can be kept to a core: with `taskset` and two cores. */
export const canPin = availableParallelism() > 1 && hasCommand('taskset', '--version');

/** The system under test has one core to itself; load, upstream and the bench share the other. */
export const HOST_CORE = 0;
export const LOAD_CORE = 1;

/** @param {string} command */
export function hasCommand(command, flag = '--version') {
  return spawnSync(command, [flag], { stdio: 'ignore' }).error === undefined;
}

/** Keeps this process, and its children without a core of their own, off the host's core. */
export function pinSelf() {
  if (canPin) spawnSync('taskset', ['-acp', String(LOAD_CORE), String(process.pid)]);
}

/**
 * @param {number | string} core several as `0,1`
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export function spawnPinned(core, command, args, options = {}) {
  const child = canPin
    ? spawn('taskset', ['-c', String(core), command, ...args], options)
    : spawn(command, args, options);
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

// A failed benchmark must not leave a system running: it would disturb the next one.
const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    process.stderr.write(`stopped by ${signal}\n`);
    process.exit(1);
  });

/**
 * Starts a server script of this folder and resolves with its URL once it listens.
 * @param {number} core
 * @param {string} script
 * @param {readonly string[]} [args]
 */
export async function startServer(core, script, args = []) {
  const path = new URL(`../servers/${script}`, import.meta.url).pathname;
  const child = spawnPinned(core, process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await readLine(child, (line) => /^listening (\d+)$/.exec(line)?.[1]);
  return { pid: pidOf(child), url: `http://127.0.0.1:${port}`, stop: () => stop(child) };
}

/**
 * Resolves with the first line of stdout that `read` accepts.
 * @template T
 * @param {import('node:child_process').ChildProcess} child
 * @param {(line: string) => T | undefined} read
 * @returns {Promise<T>}
 */
export function readLine(child, read) {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`${child.spawnargs.join(' ')} did not start`));
    const timer = setTimeout(giveUp, START_TIMEOUT_MS);
    child.once('exit', giveUp);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const value = read(line);
      if (value === undefined) return;
      clearTimeout(timer);
      child.off('exit', giveUp);
      resolve(value);
    });
  });
}

/** `taskset` becomes the command, so the process id stays the same. */
export function pidOf(child) {
  if (child.pid === undefined) throw new Error(`${child.spawnfile} cannot be started`);
  return child.pid;
}

/** @param {import('node:child_process').ChildProcess} child */
export function stop(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    child.once('exit', () => {
      clearTimeout(kill);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
