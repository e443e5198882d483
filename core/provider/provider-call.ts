import type { Duplex } from 'node:stream';
import type {
  BodyStream,
  CallContext,
  Cancellation,
  Outcome,
  Progress,
  ProviderFailure,
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
  /**
   * The body that the client is still sending, which `operation` has too; absent for a call without
   * one.
   */
  readonly upload?: Upload;
  /** The streaming of the response; absent to buffer it up to `limits.response_bytes`. */
  readonly response?: StreamedResponse;
  /** `GET /items/{id}`, which has separate breakers; `null` for a bridge operation. */
  readonly route: string | null;
  readonly context: CallContext;
  /**
   * The caller in `modgate-identity`; `null` or absent for a module without it, and for calls of
   * the host itself.
   */
  readonly identity?: IdentifiedCaller | null;
  /** The client adds the headers of each call and attempt to this object, so it must not be shared. */
  readonly headers: Record<string, string>;
  /** A `traceparent` for the next attempt. */
  readonly nextTraceparent: () => string;
  /**
   * Called once, when nothing but the provider can reject the call any more. Its error ends the call,
   * which is then no call of the provider; absent for a call that needs no admission.
   */
  readonly admit?: () => Promise<void>;
  /** Removes the credentials of the caller from a text that quotes the provider. Default: none. */
  readonly mask?: (text: string) => string;
  /**
   * The failure of a response with a body, by its head; `null` if the body decides. Default: the
   * body decides.
   */
  readonly checkHead?: (head: Pick<Outcome, 'status' | 'headers'>) => ProviderFailure | null;
  /** Receives the reports of the provider. Default: they only extend the time of the call. */
  readonly onProgress?: (progress: Progress) => void;
  readonly onAttemptEnd?: (result: AttemptResult) => void;
  /** The limit for everything: the wait for a turn, all attempts, and the body of the response. */
  readonly timeoutMs: number;
  /** Aborted when the HTTP client disconnects. */
  readonly signal: Cancellation;
  /** Whether the call may be repeated. Default false. */
  readonly isRepeatable?: boolean;
  /** The key for `consistent_hash`; without one the endpoints take turns. */
  readonly hashKey?: string | null;
  /** Counts the memory of the response until it is sent; absent for calls of the host itself. */
  readonly held?: HeldMemory;
  /** Updated at the start of each attempt, so that it is also valid for a failed call. */
  readonly facts?: CallFacts;
}

/** A body of a request that arrives while the provider is called. */
export interface Upload extends BodyStream {
  /** Whether a provider may have received a byte of it: the call is then sent once. */
  readonly isStarted: boolean;
  /** The reason why it could not be read completely; `null` for none. */
  readonly failure: Error | null;
  /** Call it before the body is read. */
  watch(watcher: UploadWatcher): void;
  /**
   * Waits for its end, and reads the bytes that the provider does not.
   * @throws the failure of the body.
   */
  waitForEnd(): Promise<void>;
  /**
   * Called when no further part is read.
   * @param reason becomes its failure
   */
  stop(reason?: Error): void;
  /** Ends its call with this failure, even if the whole body has arrived. */
  fail(failure: Error): void;
}

export interface UploadWatcher {
  readonly onStart: () => void;
  readonly onEnd: () => void;
  readonly onFailure: (failure: Error) => void;
}

export interface StreamedResponse {
  /** Bytes. */
  readonly maxBytes: number;
  /** A longer response is streamed. Bytes. */
  readonly holdBytes: number;
  /** Set for a route whose response may be a stream of events, whose call ends with its head. */
  readonly events?: { readonly idleMs: number };
}

/**
 * Parses a response; returns a promise only if that takes long.
 * @throws ProviderStatus for a status other than success, ProviderFailure otherwise.
 */
export type ParseResponse<T> = (
  outcome: CheckedOutcome,
  endpoint: AnsweringEndpoint,
  operation: ProviderOperation,
) => T | Promise<T>;

interface AnsweringEndpoint {
  /** `null` for an endpoint without a URL. */
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
  /** The unread rest of the response; `null` for a buffered response. */
  readonly stream: ResponseStream | null;
  /** The connection of an opened WebSocket; `null` for any other response. */
  readonly connection: Duplex | null;
}
