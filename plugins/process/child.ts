import { type ChildProcess, spawn } from 'node:child_process';
import type { Log } from '../../core/contract/index.js';
import { LineLog } from '../shared/line-log.js';
import { forgetGroup, rememberGroup, signalGroup } from './process-group.js';

/** Between SIGTERM and SIGKILL. Below the 2 s that a host gives to each undo of a scope. */
const STOP_GRACE_MS = 1_500;

export interface ChildOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
}

/** One run of the command, from its start to its end. */
export class Child {
  /** Resolves when it runs; rejects with an error for ops when it cannot be started. */
  readonly spawned: Promise<void>;
  /** Why it ended. Never rejects. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #why: string | null = null;

  constructor({ command, cwd, env, log }: ChildOptions) {
    const [program = '', ...args] = command;
    // No shell. Its stdin is never written to: that it ends is how a child learns that the host is gone.
    this.#child = spawn(program, args, { cwd, env, detached: true, stdio: 'pipe', shell: false });
    const { pid } = this.#child;
    if (pid !== undefined) rememberGroup(pid);
    this.#child.stdin?.on('error', () => {});
    this.spawned = new Promise((resolve, reject) => {
      this.#child.once('spawn', resolve);
      this.#child.once('error', (error) => reject(explainSpawn(error)));
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        if (pid === undefined) resolve(explainSpawn(error).message);
      });
      this.#child.once('exit', (code, signal) => {
        if (pid !== undefined) {
          // What it has left behind.
          signalGroup(pid, 'SIGKILL');
          forgetGroup(pid);
        }
        resolve(this.#why ?? (signal === null ? `it ended with code ${code}` : `it got ${signal}`));
      });
    });
    // Whoever waits for the end hears of it there.
    this.spawned.catch(() => {});
    logOutput(this.#child, log);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** SIGTERM to the whole group, and SIGKILL to what is left after a grace. */
  async end(why: string): Promise<void> {
    this.#why ??= why;
    const { pid } = this.#child;
    if (pid === undefined) return;
    this.#child.stdin?.end();
    signalGroup(pid, 'SIGTERM');
    const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), STOP_GRACE_MS);
    await this.ended;
    clearTimeout(timer);
  }
}

function logOutput(child: ChildProcess, log: Log): void {
  const { pid, stdout, stderr } = child;
  const outputs = [
    { output: stdout, lines: new LineLog(log.info, { pid, stream: 'stdout' }) },
    { output: stderr, lines: new LineLog(log.warn, { pid, stream: 'stderr' }) },
  ];
  for (const { output, lines } of outputs) {
    output?.on('data', (chunk: Uint8Array) => lines.push(chunk));
    output?.on('end', () => lines.end());
    output?.on('error', () => {});
  }
}

/** Without the command: it may hold what is not for every eye. */
function explainSpawn(error: unknown): Error {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? 'unknown';
  const hint = code === 'ENOENT' ? ': no such program, or no such cwd' : '';
  return new Error(`command cannot be started (${code}${hint})`, { cause: error });
}
