import { type HeldMemory, STEP_BYTES } from './held-memory.js';
import type { RejectedCall } from './rejected-call.js';

/** What the source of a body has read ahead of a reader that is behind: about one part. Bytes. */
const READ_AHEAD_BYTES = 32_768;

/** A connection, or a response, whose other end reads. */
interface Target {
  /** The bytes that the operating system has not taken yet. */
  readonly writableLength: number;
  readonly destroyed: boolean;
}

interface UnreadBytesOptions {
  /** The connections of one request. */
  readonly targets: readonly Target[];
  /** Only this object changes its bytes from now on. */
  readonly held: Pick<HeldMemory, 'keepOnly'>;
  /**
   * Set for a body that is passed on while it arrives, which is counted in steps: the bytes that
   * are held besides, such as an incomplete event.
   */
  readonly countHeld?: () => number;
  /** Called when the unread bytes exceed a memory budget: the request must be cut. */
  readonly onRejected: (rejection: RejectedCall) => void;
}

/**
 * Reserves memory for what the reader of a response, or of a WebSocket, has not read. A reader that
 * keeps up needs none.
 */
export class UnreadBytes {
  readonly #options: UnreadBytesOptions;
  #isChecking = false;
  #hasReserved = false;

  constructor(options: UnreadBytesOptions) {
    this.#options = options;
  }

  /**
   * Call it after bytes were written. They count only if they are still unread in a later turn of
   * the event loop: Node passes them on at the end of this one, and encrypted ones in the next.
   */
  check(): void {
    if (this.#isChecking) return;
    this.#isChecking = true;
    setImmediate(() => this.#checkOnce());
  }

  /** The listener for the end of a write. */
  readonly onTaken = (): void => {
    if (this.#hasReserved) this.check();
  };

  #checkOnce(): void {
    if (this.#count() > 0) setImmediate(() => this.#update());
    else this.#update();
  }

  #update(): void {
    const { targets, held, onRejected } = this.#options;
    this.#isChecking = false;
    if (targets.some(({ destroyed }) => destroyed)) return;
    const bytes = this.#count();
    const rejection = held.keepOnly(bytes);
    if (rejection === null) this.#hasReserved = bytes > 0;
    else onRejected(rejection);
  }

  #count(): number {
    const { targets, countHeld } = this.#options;
    let unread = 0;
    for (const { writableLength } of targets) unread += writableLength;
    if (countHeld === undefined) return unread;
    const heldBytes = countHeld();
    if (unread > 0) return roundUp(unread + READ_AHEAD_BYTES + heldBytes);
    // The start of the next event is no sign of a slow reader.
    return heldBytes > READ_AHEAD_BYTES ? roundUp(heldBytes) : 0;
  }
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / STEP_BYTES) * STEP_BYTES;
}
