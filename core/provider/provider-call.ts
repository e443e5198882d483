import type { Duplex } from 'node:stream';
import type {
  BodyStream,
  CallContext,
  Cancellation,
  Outcome,
  ProviderOperation,
} from '../contract/index.js';
import type { IdentifiedCaller } from '../identity/identity-claims.js';
import type { EndpointBase } from './endpoint-base.js';
import type { HeldMemory } from './held-memory.js';
import type { CheckedOutcome } from './outcome.js';
import type { ResponseStream } from './response-stream.js';

/** One call of a provider; the provider client sends it in one or more attempts. */
export interface ProviderCall {
  /** `modgate-call-id`. Default: a new one. */
  readonly id?: string;
  readonly operation: ProviderOperation;
  /** The body that the client still sends, which `operation` has too; absent for a call without. */
  readonly upload?: Upload;
  /** What the response may hold; absent: `limits.response_bytes`, all of it held. */
  readonly response?: StreamedResponse;
  /** `GET /items/{id}`, which has breakers of its own; `null` for a bridge operation. */
  readonly route: string | null;
  readonly context: CallContext;
  /** Whom `modgate-identity` names; `null` or absent for a module without it, and for calls of the host itself. */
  readonly identity?: IdentifiedCaller | null;
  /** The client adds the headers of each call and attempt to this object, so it must not be shared. */
  readonly headers: Record<string, string>;
  /** A `traceparent` for the next attempt. */
  readonly nextTraceparent: () => string;
  /** Called after each attempt. */
  readonly onAttemptEnd?: (result: AttemptResult) => void;
  /** The time for everything: the wait for a turn, all attempts, and the body of the response. */
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

/** A body of a request that arrives while the provider is called. */
export interface Upload extends BodyStream {
  /** Whether a provider may have got a byte of it: the call is then sent once. */
  readonly isStarted: boolean;
  /** Why it could not be read whole; `null` for no reason. */
  readonly failure: Error | null;
  /** Call it before the body is read. */
  watch(watcher: UploadWatcher): void;
  /**
   * Waits for its end, reading what the provider does not.
   * @throws why it could not be read whole.
   */
  prove(): Promise<void>;
  /**
   * Nobody reads on.
   * @param reason becomes its failure
   */
  stop(reason?: Error): void;
}

export interface UploadWatcher {
  readonly onStart: () => void;
  readonly onEnd: () => void;
  readonly onFailure: (failure: Error) => void;
}

/** How a response is streamed. */
export interface StreamedResponse {
  /** Bytes. */
  readonly maxBytes: number;
  /** A longer one is streamed. Bytes. */
  readonly holdBytes: number;
  /** What a route has whose response may be a stream of events: it is no call any more once its head is there. */
  readonly events?: { readonly idleMs: number };
}

/**
 * Parses a response; a promise only where that takes long.
 * @throws ProviderStatus for a status other than success, ProviderFailure otherwise.
 */
export type ParseResponse<T> = (
  outcome: CheckedOutcome,
  endpoint: AnsweringEndpoint,
  operation: ProviderOperation,
) => T | Promise<T>;

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
  provider_ms?: number | null;
}

export interface ProviderAnswer<T> {
  /** The parsed response. */
  readonly value: T;
  readonly status: number;
  /** What of the response has still to be read; `null` for a response that is held. */
  readonly stream: ResponseStream | null;
  /** The connection of a WebSocket that was opened; `null` for any other response. */
  readonly connection: Duplex | null;
}
