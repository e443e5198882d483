import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MAIN, UNBUNDLED_MAIN } from './main-file.js';
import {
  type Environment,
  type Exit,
  keepOutput,
  openHost,
  type RunningModgate,
  TEST_ENVIRONMENT,
} from './open-host.js';

export type { Exit, RunningModgate } from './open-host.js';

export interface HostOptions {
  /** Written into `modules.d` by name, sub-paths allowed; objects become JSON. */
  readonly files?: Readonly<Record<string, string | object>>;
  /** Appended to the command line, where the last flag wins. */
  readonly args?: readonly string[];
  /** Content of the file behind `--tokens`. */
  readonly tokens?: object;
  /** Default true: `--env development`. Otherwise no `--env`. */
  readonly dev?: boolean;
  readonly env?: Environment;
}

export interface ModgateProcess extends RunningModgate {
  readonly pid: number;
  /** Sends the signal, default SIGTERM, and waits for the exit. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

interface HostFolder {
  /** The temporary folder: `modules.d`, `state`, `tokens.json`. */
  readonly directory: string;
  /** Writes a file of `modules.d` and does not wait for the host. */
  drop(name: string, text: string | object): void;
  remove(name: string): void;
}

export interface RunningHost extends RunningModgate, HostFolder {}

export interface HostProcess extends ModgateProcess, HostFolder {}

interface Spawned {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly exit: Promise<Exit>;
}

const START_DEADLINE_MS = 50_000;
// Longer than the default drain (10 s), which a host may use completely.
const STOP_DEADLINE_MS = 20_000;

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** The environment of a process; default that of this one. */
export interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** Starts `modgate` with exactly these arguments, without the settings of the environment. */
export function spawnModgate(
  args: readonly string[],
  env: Environment = {},
  user: User = {},
): Spawned {
  // What looks into a host finds its code by file.
  const isInspected = env['NODE_OPTIONS'] !== undefined || env['NODE_V8_COVERAGE'] !== undefined;
  const main = isInspected ? UNBUNDLED_MAIN : MAIN;
  const child = spawn(process.execPath, [main, ...args], {
    ...user,
    env: { ...inheritedEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exit = once(child, 'close').then(([code, signal]): Exit => {
    alive.delete(child);
    if (args[0] === 'serve') keepOutput(`${stdout}\n${stderr}`);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  return { child, stdout: () => stdout, stderr: () => stderr, exit };
}

/**
 * Starts `modgate` in a process of its own and waits for the line `listening`.
 * @throws an error with the output if it exits or hangs.
 */
export async function startModgate(
  args: readonly string[],
  env: Environment = {},
  user: User = {},
): Promise<ModgateProcess> {
  const spawned = spawnModgate(args, { ...TEST_ENVIRONMENT, ...env }, user);
  const url = await waitForListening(spawned);
  return {
    url,
    port: Number(new URL(url).port),
    pid: spawned.child.pid ?? 0,
    logs: () => parseLines(spawned.stdout()),
    output: () => spawned.stdout() + spawned.stderr(),
    stop: (signal = 'SIGTERM') => stop(spawned, signal),
    kill: async () => {
      spawned.child.kill('SIGKILL');
      await spawned.exit;
    },
  };
}

/**
 * Starts a host in this process, with a temporary `modules.d`; it is reached over HTTP as any other.
 * Stop it in `after`, which also removes the folder.
 */
export function startHost(options: HostOptions = {}): Promise<RunningHost> {
  return startIn(options, (args) => openHost(args, options.env));
}

/**
 * Works like `startHost`, in a separate process: for tests of signals, workers, the output, or the
 * uncaught errors of a process.
 */
export function startHostProcess(options: HostOptions = {}): Promise<HostProcess> {
  return startIn(options, (args) => startModgate(args, options.env));
}

async function startIn<Running extends Omit<ModgateProcess, 'pid'>>(
  options: HostOptions,
  start: (args: readonly string[]) => Promise<Running>,
): Promise<Running & HostFolder> {
  const directory = mkdtempSync(join(tmpdir(), 'modgate-host-'));
  const clean = () => rmSync(directory, { recursive: true, force: true });
  const modules = join(directory, 'modules.d');
  mkdirSync(modules);
  const drop = (name: string, text: string | object) => writeText(join(modules, name), text);
  for (const [name, text] of Object.entries(options.files ?? {})) drop(name, text);
  try {
    const running = await start(buildArguments(options, directory));
    return {
      ...running,
      directory,
      drop,
      remove: (name) => rmSync(join(modules, name), { recursive: true, force: true }),
      stop: (signal?: NodeJS.Signals) => running.stop(signal).finally(clean),
      kill: () => running.kill().finally(clean),
    };
  } catch (error) {
    clean();
    throw error;
  }
}

function buildArguments(options: HostOptions, directory: string): string[] {
  const args = ['serve', '--modules', join(directory, 'modules.d')];
  args.push('--state', join(directory, 'state'), '--port', '0', '--host', '127.0.0.1');
  if (options.dev ?? true) args.push('--env', 'development');
  if (options.tokens !== undefined) {
    const file = join(directory, 'tokens.json');
    writeText(file, options.tokens);
    args.push('--tokens', file);
  }
  return [...args, ...(options.args ?? [])];
}

function writeText(path: string, text: string | object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text));
}

function inheritedEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(?:MODGATE_|OTEL_|NODE_OPTIONS$)/.test(entry[0]),
  );
  return Object.fromEntries(inherited);
}

function waitForListening(spawned: Spawned): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (subject: string) => {
      clearTimeout(timer);
      reject(
        new Error(`host ${subject}\nstdout: ${spawned.stdout()}\nstderr: ${spawned.stderr()}`),
      );
    };
    const timer = setTimeout(() => {
      spawned.child.kill('SIGKILL');
      fail(`did not listen within ${START_DEADLINE_MS} ms`);
    }, START_DEADLINE_MS);
    const look = () => {
      const url = findListening(spawned.stdout());
      if (url === undefined) return;
      clearTimeout(timer);
      spawned.child.stdout?.off('data', look);
      resolve(url);
    };
    spawned.child.stdout?.on('data', look);
    void spawned.exit.then((exit) => fail(`exited with ${exit.code ?? exit.signal}`));
  });
}

function findListening(stdout: string): string | undefined {
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1);
  const line = parseLines(whole).find((entry) => entry['msg'] === 'listening');
  return typeof line?.['url'] === 'string' ? line['url'] : undefined;
}

function parseLines(stdout: string): Record<string, unknown>[] {
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function stop(spawned: Spawned, signal: NodeJS.Signals): Promise<Exit> {
  spawned.child.kill(signal);
  const timer = setTimeout(() => spawned.child.kill('SIGKILL'), STOP_DEADLINE_MS);
  const exit = await spawned.exit;
  clearTimeout(timer);
  return exit;
}
