import {
  type Invocation,
  type OpenContext,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import { RestartBackoff } from '../shared/backoff.js';
import { OWN_ENDPOINT } from '../shared/balancing.js';
import { createAbortFailure } from '../shared/failures.js';
import { formatError } from '../shared/format-error.js';
import type { LocalConfiguration } from './handler.js';
import { ModuleThread, type ThreadExit, type ThreadOptions } from './module-thread.js';
import { receiveFailure } from './sent-failure.js';
import type { SentManifest, ThreadStart } from './thread-messages.js';

interface ThreadProviderOptions extends Omit<ThreadOptions, 'start'> {
  readonly start: Omit<ThreadStart, 'configuration'>;
}

/**
 * Opens the module in its own thread, which is restarted whenever it exits.
 * @throws Error for operators when the file cannot be used.
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
    balancing: () => OWN_ENDPOINT,
  };
}

class ThreadSupervisor {
  readonly #options: ThreadProviderOptions;
  readonly #backoff = new RestartBackoff();
  #thread: ModuleThread;
  /** The reason why there is no thread. */
  #problem: string | null = null;
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

  manifest(): Uint8Array {
    const manifest = this.#manifest;
    if (manifest === null) throw new ProviderFailure('unavailable', 'the thread is not ready');
    if ('failure' in manifest) throw receiveFailure(manifest.failure);
    return manifest.value;
  }

  check(): void {
    if (this.#problem === null) return;
    throw new ProviderFailure('unavailable', this.#problem, { phase: 'connecting' });
  }

  async invoke(invocation: Invocation): Promise<Outcome> {
    const { operation } = invocation;
    const signal = invocation.cancellation ?? invocation.signal;
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    this.check();
    const outcome = await this.#thread.call(invocation);
    if (operation.kind === 'configure') {
      // Kept for the next thread, which would start with the defaults of its file.
      this.#configuration = { revision: operation.revision, values: operation.values };
    }
    return outcome;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#problem ??= 'module closed';
    clearTimeout(this.#timer);
    await this.#thread.close();
  }

  #createThread(): ModuleThread {
    const { start, ...rest } = this.#options;
    return new ModuleThread({ ...rest, start: { ...start, configuration: this.#configuration } });
  }

  /** `readyAt` is `null` for a thread that is not ready yet. */
  #watch(thread: ModuleThread, readyAt: number | null): void {
    let upSince = readyAt;
    thread.ready.then(
      (manifest) => {
        this.#manifest = manifest;
        upSince ??= performance.now();
      },
      // The thread then exits, which is handled below.
      () => {},
    );
    // `exited` never rejects.
    void thread.exited.then((exit) =>
      this.#restartLater(exit, upSince === null ? 0 : performance.now() - upSince),
    );
  }

  #restartLater({ reason, failedCalls, error }: ThreadExit, upMs: number): void {
    if (this.#isClosed) return;
    const delayMs = this.#backoff.next(upMs);
    this.#options.log.error(
      {
        reason,
        failed_calls: failedCalls,
        restart_in_ms: delayMs,
        ...(error !== undefined && { err: error }),
      },
      'thread exited',
    );
    if (delayMs === 0) {
      this.#restart();
      return;
    }
    this.#problem = `thread down for up to ${delayMs} ms: ${reason}`;
    this.#timer = setTimeout(() => this.#restart(), delayMs);
  }

  #restart(): void {
    this.#problem = null;
    try {
      this.#thread = this.#createThread();
    } catch (error) {
      const reason = `no thread can be created: ${formatError(error)}`;
      this.#restartLater({ reason, failedCalls: 0, error: undefined }, 0);
      return;
    }
    this.#watch(this.#thread, null);
  }
}
