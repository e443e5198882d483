import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cancellation, type Log, ProviderFailure } from '../../core/contract/index.js';
import { type Connector, createConnector } from '../http/connector.js';
import { createAbortFailure } from '../shared/failures.js';
import { RestartBackoff } from '../shared/restart-backoff.js';
import { Child, type ChildOptions } from './child.js';

/** How often a child that starts is tried. */
const PROBE_PAUSE_MS = 25;

export interface SupervisorOptions extends ChildOptions {
  readonly socketPath: string;
  readonly startTimeoutMs: number;
  readonly log: Log;
  /** Called for a child that was started again, before any call; a throw ends it. */
  readonly prepare: (signal: AbortSignal) => Promise<void>;
}

/** Keeps one child running, and knows whether it can be asked. */
export class ProcessSupervisor {
  readonly #options: SupervisorOptions;
  readonly #connector: Connector;
  readonly #pauses = new RestartBackoff();
  readonly #closing = new AbortController();
  #child: Child | null = null;
  #starts = 0;
  #isUp = false;
  /** Why no child is there or to come soon. */
  #trouble: string | null = null;
  #waiting = new Set<() => void>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#connector = createConnector({ kind: 'unix', path: options.socketPath });
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** @throws Error for ops when the command cannot be started at all. */
  async start(): Promise<void> {
    const child = this.#run();
    try {
      await child.spawned;
    } catch (error) {
      // A program that is not there is no process that died: it is not tried again.
      this.#closing.abort();
      throw error;
    }
  }

  /**
   * Waits for a child that is starting.
   * @throws ProviderFailure `unavailable` when there is none and none starts, the signal's when it is aborted.
   */
  async ready(signal: Cancellation): Promise<void> {
    if (signal.aborted) throw createAbortFailure(signal.reason);
    while (!this.#isUp) {
      if (this.#trouble !== null) throw new ProviderFailure('unavailable', this.#trouble);
      await this.#nextChange(signal);
    }
  }

  /** @throws ProviderFailure `unavailable` unless the child is up. */
  check(): void {
    if (this.#isUp) return;
    const trouble = this.#trouble ?? 'the process of the module is starting';
    throw new ProviderFailure('unavailable', trouble);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#change({ isUp: false, trouble: 'the module is closed' });
    await this.#child?.end('it was closed');
    this.#connector.close();
  }

  #run(): Child {
    this.#starts += 1;
    this.#change({ isUp: false, trouble: null });
    const child = new Child(this.#options);
    this.#child = child;
    const start = { upAt: 0 };
    // Neither rejects: what goes wrong ends the child, and that is what is waited for.
    void this.#watchStart(child, start);
    void child.ended.then((why) => this.#restart(child, why, start.upAt));
    return child;
  }

  async #watchStart(child: Child, start: { upAt: number }): Promise<void> {
    const ending = new AbortController();
    void child.ended.then(() => ending.abort());
    const { startTimeoutMs } = this.#options;
    const signal = AbortSignal.any([
      this.#closing.signal,
      ending.signal,
      AbortSignal.timeout(startTimeoutMs),
    ]);
    try {
      await this.#probe(signal);
    } catch {
      if (this.#closing.signal.aborted) return;
      await child.end(`it did not listen on its socket within ${startTimeoutMs} ms`);
      return;
    }
    try {
      if (this.#starts > 1) await this.#options.prepare(signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'for a reason that is no error';
      await child.end(`it did not take its configuration: ${why}`);
      return;
    }
    if (signal.aborted) return;
    start.upAt = performance.now();
    this.#change({ isUp: true, trouble: null });
    this.#options.log.info({ pid: child.pid }, 'the process of the module is up');
  }

  async #probe(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return await this.#connector.probe(signal);
      } catch {
        await pause(PROBE_PAUSE_MS, undefined, { signal });
      }
    }
  }

  async #restart(child: Child, why: string, upAt: number): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const pauseMs = this.#pauses.next(upAt === 0 ? 0 : performance.now() - upAt);
    const { log, socketPath } = this.#options;
    log.error(
      { pid: child.pid, reason: why, restart_in_ms: pauseMs },
      'the process of the module ended',
    );
    const trouble = `the process of the module is down for up to ${pauseMs} ms: ${why}`;
    this.#change({ isUp: false, trouble: pauseMs === 0 ? null : trouble });
    try {
      // The dead one has left its socket: nobody could listen there.
      await rm(socketPath, { force: true });
      await pause(pauseMs, undefined, { signal: this.#closing.signal });
    } catch {
      return;
    }
    this.#run();
  }

  #change({ isUp, trouble }: { isUp: boolean; trouble: string | null }): void {
    this.#isUp = isUp;
    this.#trouble = trouble;
    for (const notice of [...this.#waiting]) notice();
  }

  #nextChange(signal: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#waiting.delete(notice);
        signal.removeEventListener('abort', stop);
      };
      const notice = () => {
        settle();
        resolve();
      };
      const stop = {
        handleEvent: () => {
          settle();
          reject(createAbortFailure(signal.reason));
        },
      };
      this.#waiting.add(notice);
      signal.addEventListener('abort', stop);
    });
  }
}
