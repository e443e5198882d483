import type { Actor } from './actor.js';
import type { Cancellation } from './cancellation.js';
import type { Method } from './method.js';

/** A call of a declared route. Bytes pass unchanged both ways. */
export interface HttpRouteOperation {
  /** Tells the operations apart. */
  readonly kind: 'http_route';
  /** Never HEAD: the host asks with GET and leaves the body out. */
  readonly method: Method;
  /** The template of the manifest: `/contacts/{id}`. */
  readonly declaredPath: string;
  /** Raw path and raw query exactly as the caller sent them, ready to send: `/contacts/a%20b?x=1`. */
  readonly target: string;
  /** `/` and the decoded segments: `/contacts/a b`. */
  readonly providerPath: string;
  /** Decoded parameters by name, a `{rest...}` joined with `/`; an object without a prototype. */
  readonly pathParams: Readonly<Record<string, string>>;
  /**
   * The caller's bytes, judged to be JSON, at most `limits.request_bytes` (default 1 MiB); `null` for GET
   * and DELETE.
   */
  readonly body: Uint8Array | null;
}

/**
 * One page of an admin entity. Answered with `{"records": […], "next_cursor": string | null}` as JSON.
 * Comes only with `supports.admin`.
 */
export interface AdminListOperation {
  /** Tells the operations apart. */
  readonly kind: 'admin_list';
  /** The name of the entity in the manifest. */
  readonly entity: string;
  /** The manifest's `list_path`; `null` where it has none: an adapter that needs it fails as `refused`. */
  readonly path: string | null;
  /** 1 to 200 rows. */
  readonly limit: number;
  /**
   * Opaque, from the provider's previous answer; `null` for the first page. Comes back from a caller:
   * hostile.
   */
  readonly cursor: string | null;
}

/** An admin action. Answered with any JSON, or nothing. Comes only with `supports.admin`; never repeated. */
export interface AdminActionOperation {
  /** Tells the operations apart. */
  readonly kind: 'admin_action';
  /** The name of the action in the manifest. */
  readonly action: string;
  /** The manifest's `invoke_path`; `null` where it has none: an adapter that needs it fails as `refused`. */
  readonly path: string | null;
  /** The caller's input, parsed and judged by the action's `input_schema`. */
  readonly input: unknown;
  /** The same as JSON, in the bytes of the caller: what is sent on, so that numbers survive. */
  readonly inputJson: Uint8Array;
}

/**
 * Delivery of the effective configuration, at the start and after each change, to each endpoint. Repeated
 * with back-off (200 ms to 10 s) until it is answered with 2xx, so the same revision may come twice, and
 * one that is newer before an older one was accepted. Comes only with `supports.configure`.
 */
export interface ConfigureOperation {
  /** Tells the operations apart. */
  readonly kind: 'configure';
  /**
   * The manifest's `delivery_path`; `null` where it has none: an adapter that needs it fails as `refused`.
   */
  readonly path: string | null;
  /** Grows by each write, from 0. */
  readonly revision: number;
  /** Every effective value, defaults too, keyed `service/key`. Holds secrets: never to be logged. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What a provider is asked to do. A later version may add kinds: refuse those that are not known. */
export type ProviderOperation =
  | HttpRouteOperation
  | AdminListOperation
  | AdminActionOperation
  | ConfigureOperation;

/** Around a call: for logs and traces, never for a decision, which the host has made. */
export interface CallContext {
  /** The name that the descriptor configures. */
  readonly module: string;
  /** `null` when the host calls on its own account (delivery, manifest). */
  readonly actor: Actor | null;
  /** `x-request-id`: `^[A-Za-z0-9._:-]{1,128}$`, perhaps the caller's own. */
  readonly requestId: string;
  /** `x-correlation-id`, likewise. */
  readonly correlationId: string;
}

/**
 * One attempt of one call. The host repeats where that is safe, with a new invocation; an adapter never
 * does.
 */
export interface Invocation {
  /** The host's own id of this call, new for each call: `modgate-call-id`. */
  readonly id: string;
  /** What to do. */
  readonly operation: ProviderOperation;
  /**
   * All headers the provider is to get but its own credentials (contract 1.6): lower-case names, values
   * without control characters. A transport with headers of its own hands them on unchanged.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Which of `Provider.endpoints()` to use; absent when the provider names none. */
  readonly endpoint?: string;
  /** Around the call. */
  readonly context: CallContext;
  /**
   * An answer with a longer body is a `protocol` failure; stop reading there. Bytes, at least 1, default 4
   * MiB.
   */
  readonly maxResponseBytes: number;
  /**
   * Aborted at the deadline or when the caller has gone. Its reason is the `ProviderFailure` to throw. The
   * adapter then stops, frees all it holds and settles at once; one that was aborted before is never sent. An
   * adapter that does not heed it holds up nobody: the host answers without it.
   */
  readonly signal: AbortSignal;
  /**
   * The same as `signal`, which is only made when it is read: an adapter that needs no AbortSignal listens
   * here and saves 5 µs a call. Absent where the host made a signal anyway: `cancellation ?? signal`.
   */
  readonly cancellation?: Cancellation;
}

/** What the provider answered. Any status is an answer; the host judges it. */
export interface Outcome {
  /** 100 to 599; anything else makes the answer a `protocol` failure. */
  readonly status: number;
  /** Lower-case names; a repeated header is joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The bytes as they came, not decoded and not decompressed; `null` or empty when there were none. A body
   * that came in pieces need not be joined: the host sends large ones on as they are. The bytes must not be
   * written to any more.
   */
  readonly body: Uint8Array | readonly Uint8Array[] | null;
}

/** The body of an outcome as one piece; empty where there was none. */
export function joinBody(body: Outcome['body']): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return body === null ? new Uint8Array() : Buffer.concat(body);
}
