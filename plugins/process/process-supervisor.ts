import { existsSync } from 'node:fs';
import { lstat, mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cancellation, type Log, ProviderFailure } from '../../core/contract/index.js';
import { type Connector, createConnector } from '../http/connector.js';
import { RestartBackoff } from '../shared/backoff.js';
import { Child, type ChildOptions } from '../shared/child.js';
import { withDeadline } from '../shared/deadline.js';
import { createAbortFailure } from '../shared/failures.js';
import { formatError } from '../shared/format-error.js';
import { Gate } from '../shared/gate.js';

/** The time between attempts to connect to a child that starts. */
const PROBE_INTERVAL_MS = 25;

interface SupervisorOptions extends ChildOptions {
  readonly socketPath: string;
  readonly startTimeoutMs: number;
  readonly log: Log;
  /** Called for a restarted child before any call; an error ends the child. */
  readonly prepare: (signal: AbortSignal) => Promise<void>;
}

/** Keeps one child running, and tracks whether it is up. */
export class ProcessSupervisor {
  readonly #options: SupervisorOptions;
  readonly #connector: Connector;
  readonly #backoff = new RestartBackoff();
  readonly #closing = new AbortController();
  #child: Child | null = null;
  #starts = 0;
  #isUp = false;
  /** The reason why the child is down, unless a start is in progress. */
  #problem: string | null = null;
  /** Opens at the next change. */
  #changed = new Gate();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#connector = createConnector({ kind: 'unix', path: options.socketPath });
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** @throws Error for operators when the command cannot be started. */
  async start(): Promise<void> {
    const child = this.#run();
    try {
      await child.spawned;
    } catch (error) {
      // A command that cannot be started is not retried.
      this.#closing.abort();
      throw error;
    }
  }

  /**
   * Waits until the child is up.
   * @throws ProviderFailure `unavailable` when no child is starting; the failure of the signal when aborted.
   */
  async ready(signal: Cancellation): Promise<void> {
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    while (!this.#isUp) {
      if (this.#problem !== null) throw createDown(this.#problem);
      await this.#changed.wait(signal);
    }
  }

  /** @throws ProviderFailure `unavailable` unless the child is up. */
  check(): void {
    if (this.#isUp) return;
    throw createDown(this.#problem ?? 'process starting');
  }

  /** Replaces a child that new connections cannot reach: programs that clean temporary folders delete sockets. */
  async requireSocket(): Promise<void> {
    if (!this.#isUp || existsSync(this.#options.socketPath)) return;
    this.#change({ isUp: false, problem: null });
    await this.#child?.end('its socket was deleted');
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#change({ isUp: false, problem: 'module closed' });
    await this.#child?.end('module closed');
    this.#connector.close();
  }

  #run(): Child {
    this.#starts += 1;
    this.#change({ isUp: false, problem: null });
    const child = new Child(this.#options);
    this.#child = child;
    const start = { upAt: 0 };
    // Neither rejects: an error ends the child.
    void this.#watchStart(child, start);
    void child.exited.then((reason) => this.#restart(reason, start.upAt, child.pid));
    return child;
  }

  async #watchStart(child: Child, start: { upAt: number }): Promise<void> {
    const exit = new AbortController();
    void child.exited.then(() => exit.abort());
    const over = AbortSignal.any([this.#closing.signal, exit.signal]);
    await withDeadline(over, this.#options.startTimeoutMs, (signal) =>
      this.#awaitStart(child, start, signal),
    );
  }

  async #awaitStart(child: Child, start: { upAt: number }, signal: AbortSignal): Promise<void> {
    const { startTimeoutMs } = this.#options;
    try {
      await this.#probe(signal);
    } catch {
      if (this.#closing.signal.aborted) return;
      await child.end(`did not listen on its socket within ${startTimeoutMs} ms`);
      return;
    }
    try {
      if (this.#starts > 1) await this.#options.prepare(signal);
    } catch (error) {
      await child.end(`did not accept its configuration: ${formatError(error)}`);
      return;
    }
    if (signal.aborted) return;
    start.upAt = performance.now();
    this.#change({ isUp: true, problem: null });
    this.#options.log.info({ pid: child.pid }, 'process up');
  }

  async #probe(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return await this.#connector.probe(signal);
      } catch {
        await pause(PROBE_INTERVAL_MS, undefined, { signal });
      }
    }
  }

  /** Never rejects. */
  async #restart(reason: string, upAt: number, pid?: number): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const delayMs = this.#backoff.next(upAt === 0 ? 0 : performance.now() - upAt);
    const { log, socketPath } = this.#options;
    log.error({ pid, reason, restart_in_ms: delayMs }, 'process exited');
    const problem = `process down for up to ${delayMs} ms: ${reason}`;
    this.#change({ isUp: false, problem: delayMs === 0 ? null : problem });
    try {
      await pause(delayMs, undefined, { signal: this.#closing.signal });
      // The socket of the old process would prevent the new one from listening.
      await rm(socketPath, { force: true });
      await requireFolder(dirname(socketPath));
      if (!this.#closing.signal.aborted) this.#run();
    } catch (error) {
      // Not awaited: it may fail again and again. Does nothing once the module is closed.
      void this.#restart(`cannot be started again: ${formatError(error)}`, 0);
    }
  }

  #change({ isUp, problem }: { isUp: boolean; problem: string | null }): void {
    this.#isUp = isUp;
    this.#problem = problem;
    this.#changed.open();
    this.#changed = new Gate();
  }
}

/** @throws Error when another user has taken the place of a folder that was deleted. */
async function requireFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(() => {});
  const { uid } = await lstat(path);
  if (process.getuid !== undefined && uid !== process.getuid()) throw new Error('foreign folder');
}

function createDown(problem: string): ProviderFailure {
  return new ProviderFailure('unavailable', problem, { phase: 'connecting' });
}
