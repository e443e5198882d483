import {
  type Balancing,
  type Invocation,
  type OpenContext,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';
import { RestartBackoff } from '../shared/restart-backoff.js';
import type { LocalConfiguration } from './handler.js';
import { ModuleThread, type ThreadOptions } from './module-thread.js';
import { receiveFailure } from './sent-failure.js';
import type { SentManifest, ThreadStart } from './thread-messages.js';

/** A check asks nobody, so it may come often: a thread that is down shows as an endpoint that is down. */
const BALANCING: Balancing = {
  strategy: 'round_robin',
  hashHeader: null,
  health: { intervalMs: 2_000, timeoutMs: 1_000, failures: 1, successes: 1 },
};

export interface ThreadProviderOptions extends Omit<ThreadOptions, 'start'> {
  readonly start: Omit<ThreadStart, 'configuration'>;
}

/**
 * Opens the module in a thread of its own, which is started again whenever it ends.
 * @throws Error for ops when the file cannot be used.
 */
export async function openThreadProvider(
  options: ThreadProviderOptions,
  scope: OpenContext['scope'],
): Promise<Provider> {
  const supervisor = new ThreadSupervisor(options);
  scope.defer(() => supervisor.close());
  await supervisor.open();
  return {
    manifest: async () => supervisor.manifest(),
    check: async () => supervisor.check(),
    invoke: (invocation) => supervisor.invoke(invocation),
    balancing: () => BALANCING,
  };
}

class ThreadSupervisor {
  readonly #options: ThreadProviderOptions;
  readonly #pauses = new RestartBackoff();
  #thread: ModuleThread;
  /** Why there is no thread at the moment. */
  #trouble: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #manifest: SentManifest | null = null;
  #configuration: LocalConfiguration | null = null;

  constructor(options: ThreadProviderOptions) {
    this.#options = options;
    this.#thread = this.#createThread();
  }

  async open(): Promise<void> {
    this.#manifest = await this.#thread.ready;
    this.#watch(this.#thread, performance.now());
  }

  manifest(): unknown {
    const manifest = this.#manifest;
    if (manifest === null) throw new ProviderFailure('unavailable', 'the thread is not ready');
    if ('failure' in manifest) throw receiveFailure(manifest.failure);
    return manifest.value;
  }

  check(): void {
    if (this.#trouble !== null) throw new ProviderFailure('unavailable', this.#trouble);
  }

  async invoke(invocation: Invocation): Promise<Outcome> {
    const { operation } = invocation;
    const signal = invocation.cancellation ?? invocation.signal;
    if (signal.aborted) throw createAbortFailure(signal.reason);
    this.check();
    const outcome = await this.#thread.call(invocation);
    if (operation.kind === 'configure') {
      // For the next thread, which begins with the defaults of its file.
      this.#configuration = { revision: operation.revision, values: operation.values };
    }
    return outcome;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#trouble ??= 'the module is closed';
    clearTimeout(this.#timer);
    await this.#thread.close();
  }

  #createThread(): ModuleThread {
    const { start, ...rest } = this.#options;
    return new ModuleThread({ ...rest, start: { ...start, configuration: this.#configuration } });
  }

  /** `readyAt` is `null` for a thread that has yet to become ready. */
  #watch(thread: ModuleThread, readyAt: number | null): void {
    let upSince = readyAt;
    thread.ready.then(
      (manifest) => {
        this.#manifest = manifest;
        upSince ??= performance.now();
      },
      // Then it ends, which is what counts.
      () => {},
    );
    // `ended` never rejects.
    void thread.ended.then(({ why, failedCalls }) => {
      if (this.#isClosed) return;
      const pauseMs = this.#pauses.next(upSince === null ? 0 : performance.now() - upSince);
      this.#options.log.error(
        { reason: why, failed_calls: failedCalls, restart_in_ms: pauseMs },
        'the thread of the module ended',
      );
      if (pauseMs === 0) return this.#restart();
      this.#trouble = `the thread of the module is down for up to ${pauseMs} ms: ${why}`;
      this.#timer = setTimeout(() => this.#restart(), pauseMs);
    });
  }

  #restart(): void {
    this.#trouble = null;
    this.#thread = this.#createThread();
    this.#watch(this.#thread, null);
  }
}
