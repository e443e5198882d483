import type { CallContext, Cancellation, Outcome, ProviderOperation } from '../contract/index.js';
import type { EndpointBase } from './endpoint-base.js';
import type { HeldMemory } from './held-memory.js';
import type { CheckedOutcome } from './outcome.js';

/** One call of a provider; the provider client sends it in one or more attempts. */
export interface ProviderCall {
  readonly operation: ProviderOperation;
  /** `GET /items/{id}`, which has breakers of its own; `null` for a bridge operation. */
  readonly route: string | null;
  readonly context: CallContext;
  /** The client adds the headers of each call and attempt to this object, so it must not be shared. */
  readonly headers: Record<string, string>;
  /** A `traceparent` for the next attempt. */
  readonly nextTraceparent: () => string;
  /** Called after each attempt. */
  readonly onAttemptEnd?: (result: AttemptResult) => void;
  /** For everything: the wait for a turn, all attempts, and the body of the response. */
  readonly timeoutMs: number;
  /** Aborted when the HTTP client disconnects. */
  readonly signal: Cancellation;
  /** Whether the call may be sent twice. Default false. */
  readonly isRepeatable?: boolean;
  /** The key for `consistent_hash`; without one the endpoints take turns. */
  readonly hashKey?: string | null;
  /** Counts what the response occupies until it has left; absent for calls of the host itself. */
  readonly held?: HeldMemory;
  /** Updated at the start of each attempt, so that it is also valid for a failed call. */
  readonly facts?: CallFacts;
}

/** Parses a response. @throws ProviderStatus for a status other than success, ProviderFailure otherwise. */
export type ParseResponse<T> = (outcome: CheckedOutcome, endpoint: AnsweringEndpoint) => T;

/** The endpoint that a response is from. */
interface AnsweringEndpoint {
  /** `null` for one that names no URL. */
  readonly base: EndpointBase | null;
}

export type AttemptResult =
  | { readonly outcome: Outcome; readonly error?: never }
  | { readonly error: unknown; readonly outcome?: never };

export interface CallFacts {
  attempts: number;
  /** The endpoint of the last attempt; `null` when there was none. */
  endpoint: string | null;
  /** The time of all attempts without the pauses between them; `null` before the first has ended. */
  providerMs?: number | null;
}

export interface ProviderAnswer<T> {
  /** The parsed response. */
  readonly value: T;
  readonly status: number;
}
