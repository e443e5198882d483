import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Log } from '../../core/contract/index.js';
import { LineLog } from './line-log.js';

/** The time between SIGTERM and SIGKILL, below the 2 s that the host allows for each cleanup. */
const STOP_GRACE_MS = 1_500;

export interface ChildOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Whether the command speaks a protocol on stdin and stdout; otherwise stdout is logged. */
  readonly hasProtocol?: boolean;
}

/** One run of a command. When the host exits, the command and its own children are killed. */
export interface RunningCommand {
  /** Resolves when it runs; rejects with an error for operators when it cannot be started. */
  readonly spawned: Promise<void>;
  /** Resolves with the reason when it exits. Never rejects. */
  readonly exited: Promise<string>;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly pid: number | undefined;
  /** Logs what it wrote to stdout beside its protocol, at most 200 lines a second. */
  logStdout(bytes: Uint8Array): void;
  /** Sends SIGTERM to the process group, and SIGKILL after 1.5 s. */
  end(reason: string): Promise<void>;
}

export class Child implements RunningCommand {
  readonly spawned: Promise<void>;
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #stdout: LineLog;
  #reason: string | null = null;

  constructor({ command, cwd, env, log, hasProtocol = false }: ChildOptions) {
    const [program = '', ...args] = command;
    // No shell. The end of stdin means that the host has exited.
    this.#child = spawn(program, args, { cwd, env, detached: true, stdio: 'pipe', shell: false });
    const { pid } = this.#child;
    if (pid !== undefined) rememberGroup(pid);
    this.#child.stdin?.on('error', () => {});
    this.spawned = new Promise((resolve, reject) => {
      this.#child.once('spawn', resolve);
      this.#child.once('error', (error) => reject(explainSpawn(error)));
    });
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        if (pid === undefined) resolve(explainSpawn(error).message);
      });
      this.#child.once('exit', (code, signal) => {
        if (pid !== undefined) {
          // Its own children may still run.
          signalGroup(pid, 'SIGKILL');
          forgetGroup(pid);
        }
        resolve(
          this.#reason ?? (signal === null ? `exited with code ${code}` : `killed by ${signal}`),
        );
      });
    });
    // The error is also the reason of `exited`.
    this.spawned.catch(() => {});
    this.#stdout = new LineLog(hasProtocol ? log.warn : log.info, { pid, stream: 'stdout' });
    logLines(this.#child.stderr, new LineLog(log.warn, { pid, stream: 'stderr' }));
    if (!hasProtocol) logLines(this.#child.stdout, this.#stdout);
    else void this.exited.then(() => this.#stdout.end());
  }

  get stdin(): Writable | null {
    return this.#child.stdin;
  }

  get stdout(): Readable | null {
    return this.#child.stdout;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  logStdout(bytes: Uint8Array): void {
    this.#stdout.push(bytes);
  }

  async end(reason: string): Promise<void> {
    this.#reason ??= reason;
    const { pid } = this.#child;
    if (pid === undefined) return;
    this.#child.stdin?.end();
    signalGroup(pid, 'SIGTERM');
    const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), STOP_GRACE_MS);
    await this.exited;
    clearTimeout(timer);
  }
}

function logLines(output: Readable | null, lines: LineLog): void {
  output?.on('data', (chunk: Uint8Array) => lines.push(chunk));
  output?.on('end', () => lines.end());
  output?.on('error', () => {});
}

/** By code of the system, which is the same for a program and for the interpreter that a script names. */
const SPAWN_HINTS: Readonly<Record<string, string>> = {
  ENOENT:
    ': no such program, no such cwd, or a script whose #! line names no program or ends with CRLF',
  EACCES: ': not executable, a folder, or no access to cwd',
  ENOEXEC: ': not a program, or of another architecture',
};

/** Omits the command, which may contain secrets. */
function explainSpawn(error: unknown): Error {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? 'unknown';
  const hint = SPAWN_HINTS[code] ?? '';
  return new Error(`command cannot be started (${code}${hint})`, { cause: error });
}

/**
 * Each child leads a process group, so that its own children end with it. When the host exits, all groups
 * are killed; when the host itself is killed, the children see the end of their stdin.
 */
const groups = new Set<number>();

function rememberGroup(leader: number): void {
  if (groups.size === 0) process.on('exit', killAll);
  groups.add(leader);
}

function forgetGroup(leader: number): void {
  groups.delete(leader);
  if (groups.size === 0) process.off('exit', killAll);
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    // The group has already exited; on macOS a group of zombies is EPERM.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

function killAll(): void {
  for (const leader of groups) signalGroup(leader, 'SIGKILL');
}
