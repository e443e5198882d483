import { Worker } from 'node:worker_threads';
import type { Cancellation } from '../../contract/index.js';
import { QueueFull, Semaphore } from '../../contract/semaphore.js';
import type { Difference } from '../../lib/json/compare-json.js';
import { type ComparedBodies, compareBodies } from './comparison.js';

/**
 * Shorter bodies are compared at once, which takes a few milliseconds regardless of their content.
 * Bytes.
 */
const MAX_INLINE_BYTES = 16_384;
/**
 * The maximum number of comparisons that wait for the thread. Their bodies count toward the memory
 * budget.
 */
const MAX_WAITING = 64;
/**
 * The longest comparison in the thread, including its start; then the thread is terminated.
 * Milliseconds.
 */
const MAX_COMPARISON_MS = 5000;
/** The thread exits after this time without comparisons. Milliseconds. */
const IDLE_MS = 30_000;
const MAX_HEAP_MB = 256;

/** The wait for the thread. */
export interface ThreadWait {
  readonly signal: Cancellation;
  readonly share: string;
}

type Result = readonly Difference[] | null;

/** Compares bodies without blocking the event loop: long ones one after another in a thread. */
class ComparisonThread {
  readonly #turns = new Semaphore(1, MAX_WAITING);
  #worker: Worker | null = null;
  #idleTimer: NodeJS.Timeout | undefined;

  /**
   * Comparisons of different shares take turns.
   * @returns `null` for bodies that are not compared, to limit the load of the host
   */
  async compare(bodies: ComparedBodies, turn: ThreadWait): Promise<Result> {
    const { live, candidate, repeated } = bodies;
    const length = live.length + candidate.length + (repeated?.length ?? 0);
    if (length <= MAX_INLINE_BYTES) return compareBodies(bodies);
    try {
      return await this.#turns.run(() => this.#compareInThread(bodies), turn);
    } catch (error) {
      if (error instanceof QueueFull) return null;
      throw error;
    }
  }

  async #compareInThread(bodies: ComparedBodies): Promise<Result> {
    clearTimeout(this.#idleTimer);
    this.#worker ??= startWorker();
    try {
      return await this.#send(this.#worker, bodies);
    } finally {
      this.#idleTimer = setTimeout(() => this.#end(), IDLE_MS).unref();
    }
  }

  /** A thread that fails, or takes too long, is replaced by the next comparison. */
  #send(worker: Worker, bodies: ComparedBodies): Promise<Result> {
    return new Promise((resolve) => {
      const settle = (result: Result, isUsable: boolean) => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('exit', onExit);
        if (!isUsable) this.#end();
        resolve(result);
      };
      const onMessage = (result: Result) => settle(result, true);
      const onExit = () => settle(null, false);
      const timer = setTimeout(onExit, MAX_COMPARISON_MS);
      worker.on('message', onMessage).on('exit', onExit);
      const { live, candidate, repeated } = bodies;
      const copies = {
        live: copy(live),
        candidate: copy(candidate),
        repeated: repeated && copy(repeated),
      };
      worker.postMessage({ ...bodies, ...copies });
    });
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }
}

/** Copies bytes, because a part of a shared buffer would be sent with the whole buffer. */
function copy(bytes: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes);
}

function startWorker(): Worker {
  const worker = new Worker(new URL('./comparison-thread-entry.js', import.meta.url), {
    name: 'comparison of answers',
    env: {},
    argv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // Its exit follows.
  worker.on('error', () => {});
  worker.unref();
  return worker;
}

/** The only instance of the process, which has one event loop. */
export const comparisons = new ComparisonThread();
