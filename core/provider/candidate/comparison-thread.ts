import type { Cancellation } from '../../contract/index.js';
import { QueueFull, Semaphore } from '../../contract/semaphore.js';
import { IdleThread } from '../../lib/idle-thread.js';
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

export interface ThreadWait {
  readonly signal: Cancellation;
  readonly share: string;
}

type Result = readonly Difference[] | null;

/** Compares bodies without blocking the event loop: long ones one after another in a thread. */
class ComparisonThread {
  readonly #turns = new Semaphore(1, MAX_WAITING);
  readonly #thread = new IdleThread<ComparedBodies, Result>({
    entry: new URL('./comparison-thread-entry.js', import.meta.url),
    name: 'comparison of answers',
    idleMs: IDLE_MS,
    maxMs: MAX_COMPARISON_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });

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

  /** @returns `null` if the thread fails or takes too long */
  #compareInThread({ live, candidate, repeated, ...rules }: ComparedBodies): Promise<Result> {
    const copies = {
      live: copy(live),
      candidate: copy(candidate),
      repeated: repeated && copy(repeated),
    };
    return this.#thread.ask({ ...rules, ...copies }).catch(() => null);
  }
}

/** Copies bytes, because a part of a shared buffer would be sent with the whole buffer. */
function copy(bytes: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes);
}

/** The only instance of the process, which has one event loop. */
export const comparisons = new ComparisonThread();
