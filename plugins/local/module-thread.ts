import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Transferable,
  Worker,
} from 'node:worker_threads';
import {
  type AbortListener,
  type Cancellation,
  type Invocation,
  type Log,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';
import { LineLog } from '../shared/line-log.js';
import { describeLateImport, explainImport, IMPORT_TIMEOUT_MS } from './import-module.js';
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

/** Below the 2 s that a host gives to each undo of a scope. */
const CLOSE_TIMEOUT_MS = 1_500;

/**
 * A thread that has not answered for two of these after the deadline of a call is stuck. Two, since a host
 * that was itself held up finds the answer between the first and the second.
 */
const STUCK_CHECK_MS = 1_000;

/** For what lives shortly: most of what a handler makes. MiB. */
const YOUNG_GENERATION_MB = 16;

/** Lines of the log that are acknowledged together. */
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

/** One thread with one module in it, from its start to its end; it is never started again. */
export class ModuleThread {
  /** Rejects with an error for ops when the module cannot be used. */
  readonly ready: Promise<SentManifest>;
  /** Why it ended, and how many calls that has cost. Never rejects. */
  readonly ended: Promise<{ readonly why: string; readonly failedCalls: number }>;
  readonly #options: ThreadOptions;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #calls = new Map<number, PendingCall>();
  readonly #importTimer: NodeJS.Timeout;
  #lastCall = 0;
  #isReady = false;
  #why: string | null = null;
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
    // Whoever wants to know asks `ready`; a restart learns of it by `ended`.
    this.ready.catch(() => {});
    this.#importTimer = setTimeout(
      () => this.#refuse(explainImport(options.start.name, describeLateImport())),
      IMPORT_TIMEOUT_MS,
    );
    this.#port.on('message', (message: ThreadMessage) => this.#receive(message));
    this.#worker.on('error', (error) => {
      this.#why ??= describeDeath(error, options.memoryMb);
    });
    this.ended = new Promise((resolve) => {
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
        handleEvent: () => this.#takeBack(call, createAbortFailure(signal.reason)),
      };
      signal.addEventListener('abort', listener);
      this.#calls.set(call, { resolve, reject, signal, listener });
      const handedOver: Transferable[] = [];
      const sent = sendOperation(operation, handedOver);
      this.#post(
        {
          kind: 'call',
          call,
          invocation: { id, operation: sent, headers, context, maxResponseBytes },
        },
        handedOver,
      );
    });
  }

  /**
   * Lets the module close, and ends the thread in any case.
   * @throws Error when the module's `close` throws, or is not done in time.
   */
  async close(): Promise<void> {
    let error: string | null = null;
    if (this.#isReady && this.#why === null) error = await this.#askToClose();
    await this.end('it was closed');
    if (error !== null) throw new Error(`the module's close failed: ${error}`);
  }

  async end(why: string): Promise<void> {
    this.#why ??= why;
    await this.#worker.terminate();
  }

  #askToClose(): Promise<string | null> {
    return new Promise((resolve) => {
      const late = `it did not end within ${CLOSE_TIMEOUT_MS} ms`;
      const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS, late);
      this.#onClosed = (error) => {
        clearTimeout(timer);
        resolve(error);
      };
      // A thread that ends by itself meanwhile is as good as closed.
      void this.ended.then(() => this.#onClosed?.(null));
      this.#post({ kind: 'close' });
    });
  }

  #post(message: HostMessage, handedOver?: Transferable[]): void {
    this.#port.postMessage(message, handedOver);
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
        clearTimeout(this.#importTimer);
        this.#isReady = true;
        this.#settleReady?.resolve(message.manifest);
        return;
      case 'refused':
        this.#refuse(message.message);
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

  #takeBack(call: number, failure: ProviderFailure): void {
    this.#settle(call)?.reject(failure);
    this.#post({ kind: 'abort', call, failure: sendFailure(failure) });
    // Before that the time-out of the import holds.
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
      void this.end(`it did nothing but compute for ${ms} ms after the deadline of a call`);
    }, STUCK_CHECK_MS);
  }

  #writeLog({ level, fields, message }: Extract<ThreadMessage, { kind: 'log' }>): void {
    this.#options.log[level](fields, message);
    this.#loggedLines += 1;
    if (this.#loggedLines < LOGGED_BATCH) return;
    this.#loggedLines = 0;
    this.#post({ kind: 'logged', lines: LOGGED_BATCH });
  }

  #refuse(message: string): void {
    this.#settleReady?.reject(new Error(message));
    void this.end(message);
  }

  #finish(code: number): { why: string; failedCalls: number } {
    // What it had answered before its end counts.
    for (
      let left = receiveMessageOnPort(this.#port);
      left;
      left = receiveMessageOnPort(this.#port)
    ) {
      this.#receive(left.message as ThreadMessage);
    }
    this.#port.close();
    clearTimeout(this.#importTimer);
    clearInterval(this.#stuckTimer);
    const why = this.#why ?? `it called process.exit(${code})`;
    const { name } = this.#options.start;
    this.#settleReady?.reject(new Error(explainImport(name, why)));
    const failedCalls = this.#calls.size;
    for (const call of [...this.#calls.keys()]) {
      this.#settle(call)?.reject(new ProviderFailure('unavailable', `the thread ended: ${why}`));
    }
    return { why, failedCalls };
  }
}

function startWorker({ module, start, log, memoryMb, env }: ThreadOptions): Worker {
  const worker = new Worker(ENTRY, {
    name: module,
    workerData: start,
    // Nothing of the host: neither its variables, nor its flags (an inspector, a loader), nor its arguments.
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

function describeDeath(error: unknown, memoryMb: number): string {
  if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return `it needed more memory than memory_mb allows (${memoryMb} MiB)`;
  }
  const what = error instanceof Error ? error.message : 'something that is no error';
  return `nobody caught what it threw: ${what}`;
}

function receiveOutcome({ status, headers, body }: SentOutcome): Outcome {
  return { status, headers, body: body === null ? null : receiveBytes(body) };
}
