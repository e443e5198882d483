import type { CallContext, Cancellation, Outcome, ProviderOperation } from '../contract/index.js';

/** One call as an operation asks for it; the guard makes attempts of it. */
export interface ProviderCall {
  readonly operation: ProviderOperation;
  readonly context: CallContext;
  /**
   * The headers but for those that are new for each call or attempt: the guard puts these in here, so
   * the object must be this call's alone.
   */
  readonly headers: Record<string, string>;
  /** A `traceparent` for the next attempt. */
  readonly nextTraceparent: () => string;
  /** Called when an attempt has ended, with its outcome or with what was thrown. */
  readonly onAttemptEnd?: (result: AttemptResult) => void;
  /** For the whole exchange: waiting for a turn, every attempt, and the body of the answer. */
  readonly timeoutMs: number;
  /** Aborted when the caller hangs up. */
  readonly signal: Cancellation;
  /** Whether the provider may be asked a second time (contract 9). Default false. */
  readonly isRepeatable?: boolean;
  /** What `consistent_hash` goes by; without one the endpoints take turns. */
  readonly hashKey?: string | null;
  /** Written at the start of each attempt, so that it is also known of a call that fails. */
  readonly trace?: CallTrace;
}

export type AttemptResult =
  | { readonly outcome: Outcome; readonly error?: never }
  | { readonly error: unknown; readonly outcome?: never };

export interface CallTrace {
  attempts: number;
  /** The endpoint of the last attempt; `null` when there was none. */
  endpoint: string | null;
  /** The time of all attempts, without the pauses between them; `null` before the first has ended. */
  providerMs?: number | null;
}

export interface ProviderAnswer<T> {
  /** What `judge` made of the outcome. */
  readonly value: T;
  readonly attempts: number;
}
