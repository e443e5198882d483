import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Transferable,
  Worker,
} from 'node:worker_threads';
import { limitImport } from '../../core/contract/import-timeout.js';
import {
  type AbortListener,
  type Cancellation,
  type FailurePhase,
  type Invocation,
  type Log,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';
import { LineLog } from '../shared/line-log.js';
import { describeLateImport, explainImport } from './import-module.js';
import { receiveBytes } from './sent-bytes.js';
import { receiveFailure, sendFailure } from './sent-failure.js';
import { sendOperation } from './sent-operation.js';
import type {
  HostMessage,
  SentManifest,
  SentOutcome,
  ThreadMessage,
  ThreadStart,
} from './thread-messages.js';

const ENTRY = new URL('./thread-entry.js', import.meta.url);

/** The timeout is below the 2 s that the host allows for each cleanup. */
const CLOSE_TIMEOUT_MS = 1_500;

/**
 * A thread is stuck when it does not respond for two of these after the deadline of a call. A host that was
 * itself blocked receives the response between the first and the second.
 */
const STUCK_CHECK_MS = 1_000;

/** The size for short-lived objects, the largest part of the objects of a handler. MiB. */
const YOUNG_GENERATION_MB = 16;

/** Log lines per acknowledgement. */
const LOGGED_BATCH = 100;

export interface ThreadOptions {
  readonly module: string;
  readonly start: ThreadStart;
  readonly log: Log;
  /** MiB. */
  readonly memoryMb: number;
  readonly env: Readonly<Record<string, string>>;
}

interface PendingCall {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (failure: ProviderFailure) => void;
  readonly signal: Cancellation;
  readonly listener: AbortListener;
}

export interface ThreadExit {
  readonly reason: string;
  readonly failedCalls: number;
  /** The uncaught error that ended it; `undefined` without one. */
  readonly error: Error | undefined;
}

export class ModuleThread {
  /** Rejects with an error for operators when the module cannot be used. */
  readonly ready: Promise<SentManifest>;
  /** Resolves when the thread exits. Never rejects. */
  readonly exited: Promise<ThreadExit>;
  readonly #options: ThreadOptions;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #calls = new Map<number, PendingCall>();
  readonly #endImportLimit: () => void;
  #lastCall = 0;
  #isReady = false;
  #reason: string | null = null;
  #error: Error | undefined;
  #stuckTimer: NodeJS.Timeout | undefined;
  #loggedLines = 0;
  #settleReady: { resolve(manifest: SentManifest): void; reject(error: Error): void } | null = null;
  #onClosed: ((error: string | null) => void) | null = null;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#worker = startWorker(options);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker.postMessage(port2, [port2]);
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    // `exited` reports the same failure to the supervisor.
    this.ready.catch(() => {});
    this.#endImportLimit = limitImport(this.#worker.performance, (limitMs) =>
      this.#reject(explainImport(options.start.name, describeLateImport(limitMs))),
    );
    this.#port.on('message', (message: ThreadMessage) => this.#receive(message));
    this.#worker.on('error', (error) => {
      this.#reason ??= describeExit(error, options.memoryMb);
      if (error instanceof Error) this.#error = error;
    });
    this.exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => resolve(this.#finish(code)));
    });
  }

  call(invocation: Invocation): Promise<Outcome> {
    const { id, operation, headers, context, maxResponseBytes } = invocation;
    const signal = invocation.cancellation ?? invocation.signal;
    this.#lastCall += 1;
    const call = this.#lastCall;
    return new Promise((resolve, reject) => {
      const listener = {
        handleEvent: () => this.#abort(call, createAbortFailure(signal.reason, 0, this.#phase)),
      };
      signal.addEventListener('abort', listener);
      this.#calls.set(call, { resolve, reject, signal, listener });
      const transfers: Transferable[] = [];
      const sent = sendOperation(operation, transfers);
      this.#post(
        {
          kind: 'call',
          call,
          invocation: { id, operation: sent, headers, context, maxResponseBytes },
        },
        transfers,
      );
    });
  }

  /**
   * Calls the module's `close`, then ends the thread in any case.
   * @throws Error when `close` throws or takes too long.
   */
  async close(): Promise<void> {
    let error: string | null = null;
    if (this.#isReady && this.#reason === null) error = await this.#askToClose();
    await this.end('module closed');
    if (error !== null) throw new Error(`the module's close failed: ${error}`);
  }

  /** No handler is called before the thread is ready. */
  get #phase(): FailurePhase {
    return this.#isReady ? 'responding' : 'connecting';
  }

  async end(reason: string): Promise<void> {
    this.#reason ??= reason;
    await this.#worker.terminate();
  }

  #askToClose(): Promise<string | null> {
    return new Promise((resolve) => {
      const late = `it did not finish within ${CLOSE_TIMEOUT_MS} ms`;
      const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS, late);
      this.#onClosed = (error) => {
        clearTimeout(timer);
        resolve(error);
      };
      // The thread may also exit meanwhile.
      void this.exited.then(() => this.#onClosed?.(null));
      this.#post({ kind: 'close' });
    });
  }

  #post(message: HostMessage, transfers?: Transferable[]): void {
    this.#port.postMessage(message, transfers);
  }

  #receive(message: ThreadMessage): void {
    switch (message.kind) {
      case 'answer':
        this.#settle(message.call)?.resolve(receiveOutcome(message.outcome));
        return;
      case 'failure':
        this.#settle(message.call)?.reject(receiveFailure(message.failure));
        return;
      case 'alive':
        clearInterval(this.#stuckTimer);
        this.#stuckTimer = undefined;
        return;
      case 'log':
        this.#writeLog(message);
        return;
      case 'ready':
        this.#endImportLimit();
        this.#isReady = true;
        this.#settleReady?.resolve(message.manifest);
        return;
      case 'rejected':
        this.#reject(message.message);
        return;
      case 'closed':
        this.#onClosed?.(message.error);
    }
  }

  #settle(call: number): PendingCall | undefined {
    const pending = this.#calls.get(call);
    pending?.signal.removeEventListener('abort', pending.listener);
    this.#calls.delete(call);
    return pending;
  }

  #abort(call: number, failure: ProviderFailure): void {
    this.#settle(call)?.reject(failure);
    this.#post({ kind: 'abort', call, failure: sendFailure(failure) });
    // Before that, the timeout of the import applies.
    if (failure.failure === 'timeout' && this.#isReady) this.#expectAlive();
  }

  #expectAlive(): void {
    if (this.#stuckTimer !== undefined) return;
    let checks = 0;
    this.#stuckTimer = setInterval(() => {
      checks += 1;
      if (checks < 2) return;
      clearInterval(this.#stuckTimer);
      const ms = 2 * STUCK_CHECK_MS;
      void this.end(`unresponsive for ${ms} ms after the deadline of a call`);
    }, STUCK_CHECK_MS);
  }

  #writeLog({ level, fields, message }: Extract<ThreadMessage, { kind: 'log' }>): void {
    this.#options.log[level](fields, message);
    this.#loggedLines += 1;
    if (this.#loggedLines < LOGGED_BATCH) return;
    this.#loggedLines = 0;
    this.#post({ kind: 'logged', lines: LOGGED_BATCH });
  }

  #reject(message: string): void {
    this.#settleReady?.reject(new Error(message));
    void this.end(message);
  }

  #finish(code: number): ThreadExit {
    // Responses that were sent before the exit still count.
    for (
      let left = receiveMessageOnPort(this.#port);
      left;
      left = receiveMessageOnPort(this.#port)
    ) {
      this.#receive(left.message as ThreadMessage);
    }
    this.#port.close();
    this.#endImportLimit();
    clearInterval(this.#stuckTimer);
    const reason = this.#reason ?? `it called process.exit(${code})`;
    const { name } = this.#options.start;
    this.#settleReady?.reject(new Error(explainImport(name, reason)));
    const failedCalls = this.#calls.size;
    const phase = this.#phase;
    for (const call of [...this.#calls.keys()]) {
      const failure = new ProviderFailure('unavailable', `thread exited: ${reason}`, { phase });
      this.#settle(call)?.reject(failure);
    }
    return { reason, failedCalls, error: this.#error };
  }
}

function startWorker({ module, start, log, memoryMb, env }: ThreadOptions): Worker {
  const worker = new Worker(ENTRY, {
    name: module,
    workerData: start,
    // Nothing is inherited from the host: no variables, flags (inspector, loader) or arguments.
    env,
    execArgv: [],
    argv: [],
    stdout: true,
    stderr: true,
    resourceLimits: {
      maxOldGenerationSizeMb: memoryMb,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
    },
  });
  const outputs = [
    { stream: worker.stdout, lines: new LineLog(log.info, { stream: 'stdout' }) },
    { stream: worker.stderr, lines: new LineLog(log.warn, { stream: 'stderr' }) },
  ];
  for (const { stream, lines } of outputs) {
    stream.on('data', (chunk: Uint8Array) => lines.push(chunk));
    stream.on('end', () => lines.end());
  }
  return worker;
}

function describeExit(error: unknown, memoryMb: number): string {
  if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return `it needed more memory than memory_mb allows (${memoryMb} MiB)`;
  }
  const description = error instanceof Error ? error.message : 'a value that is not an error';
  return `uncaught error: ${description}`;
}

function receiveOutcome({ status, headers, body }: SentOutcome): Outcome {
  return { status, headers, body: body === null ? null : receiveBytes(body) };
}
