import type {
  CallContext,
  Cancellation,
  Invocation,
  Outcome,
  Progress,
  ProviderFailure,
  ProviderOperation,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { CallProgress } from './call-progress.js';
import type { Deadline } from './deadline.js';
import type { HeldMemory } from './held-memory.js';
import type { CheckedOutcome } from './outcome.js';
import type { ProviderCall } from './provider-call.js';
import { type RejectedCall, withStatus } from './rejected-call.js';

/**
 * One attempt for the adapter. `signal` is an own property, so that a copy has it, and is created
 * when it is read. `cancellation` is not, so that a copy with another signal does not follow this
 * one.
 */
export class EndpointInvocation implements Invocation {
  readonly id: string;
  readonly operation: ProviderOperation;
  readonly headers: Readonly<Record<string, string>>;
  readonly context: CallContext;
  readonly maxResponseBytes: number;
  declare readonly endpoint?: string;
  declare readonly holdBytes?: number;
  declare readonly signal: AbortSignal;
  readonly #call: ProviderCall;
  readonly #limits: Descriptor['limits'];
  readonly #deadline: Deadline;
  readonly #held: HeldMemory | null;
  /** The number of counted bytes of the response. */
  #counted = 0;
  /** The bytes that the adapter has reserved and not released. */
  #heldByAdapter = 0;
  #isDiscarded = false;
  /** Created at the first report, which most calls never make. */
  #progress: CallProgress | null = null;
  /** The reason why the adapter need not return the body. */
  headFailure: ProviderFailure | null = null;

  constructor(
    id: string,
    call: ProviderCall,
    endpoint: string | null,
    deadline: Deadline,
    limits: Descriptor['limits'],
  ) {
    this.id = id;
    this.operation = call.operation;
    this.headers = call.headers;
    this.context = call.context;
    this.maxResponseBytes = call.response?.maxBytes ?? limits.response_bytes;
    if (endpoint !== null) this.endpoint = endpoint;
    if (call.response !== undefined) this.holdBytes = call.response.holdBytes;
    this.#call = call;
    this.#limits = limits;
    this.#deadline = deadline;
    this.#held = call.held ?? null;
    Object.defineProperty(this, 'signal', LAZY_SIGNAL);
  }

  get cancellation(): Cancellation {
    return this.#deadline;
  }

  countReceived(bytes: number): void {
    // Validated, because the adapter is third-party code.
    if (!Number.isSafeInteger(bytes) || bytes <= 0) return;
    const rejection = this.#count(bytes);
    if (rejection !== null) this.#deadline.abort(rejection);
  }

  hold(bytes: number): () => void {
    const held = this.#held;
    if (held === null || this.#isDiscarded || !Number.isSafeInteger(bytes) || bytes <= 0) {
      return () => {};
    }
    const rejection = held.reserve(bytes);
    if (rejection !== null) {
      this.#deadline.abort(rejection);
      throw rejection;
    }
    this.#heldByAdapter += bytes;
    let isHeld = true;
    return () => {
      if (!isHeld || this.#isDiscarded) return;
      isHeld = false;
      this.#heldByAdapter -= bytes;
      held.release(bytes);
    };
  }

  reportProgress(progress: Progress): void {
    this.#progress ??= new CallProgress(this.#deadline, {
      maxMs: this.#limits.stream.max_ms,
      onProgress: this.#call.onProgress,
    });
    this.#progress.report(progress);
  }

  needsBody(status: number, headers: Outcome['headers']): boolean {
    this.headFailure = this.#call.checkHead?.({ status, headers }) ?? null;
    return this.headFailure === null;
  }

  /** Counts the buffered bytes of a streamed response. */
  countUpTo(bytes: number): void {
    this.countReceived(bytes - this.#counted);
  }

  /**
   * Counts the bytes of a complete response that the adapter has not counted.
   * @throws RejectedCall beyond a memory budget.
   */
  countAll({ length, status }: Pick<CheckedOutcome, 'length' | 'status'>): void {
    const missing = length - this.#counted;
    if (missing <= 0) return;
    const rejection = this.#count(missing);
    if (rejection !== null) throw withStatus(rejection, status);
  }

  /** Called when the response is not used. */
  discard(): void {
    this.#held?.release(this.#counted + this.#heldByAdapter);
    this.#counted = 0;
    this.#heldByAdapter = 0;
    this.#isDiscarded = true;
  }

  #count(bytes: number): RejectedCall | null {
    if (this.#held === null || this.#isDiscarded) return null;
    const rejection = this.#held.reserve(bytes);
    if (rejection === null) this.#counted += bytes;
    return rejection;
  }

  static signalOf(invocation: EndpointInvocation): AbortSignal {
    return invocation.#deadline.signal;
  }
}

const LAZY_SIGNAL = {
  get(this: EndpointInvocation): AbortSignal {
    return EndpointInvocation.signalOf(this);
  },
  enumerable: true,
};
