import type { Actor } from './actor.js';
import type { Cancellation } from './cancellation.js';
import type { Method } from './method.js';

/** A call of a declared route. Bytes pass unchanged both ways. */
export interface HttpRouteOperation {
  readonly kind: 'http_route';
  readonly method: Method;
  /** The template of the manifest: `/contacts/{id}`. */
  readonly declaredPath: string;
  /** Raw path and raw query exactly as the caller sent them, ready to send: `/contacts/a%20b?x=1`. */
  readonly target: string;
  /** `/` and the decoded segments: `/contacts/a b`. */
  readonly providerPath: string;
  /** Decoded parameters; an object without a prototype. */
  readonly pathParams: Readonly<Record<string, string>>;
  /** The caller's bytes, judged to be JSON; `null` for GET and DELETE. */
  readonly body: Uint8Array | null;
}

/** One page of an admin entity. `path` is the manifest's `list_path`, `null` where it has none. */
export interface AdminListOperation {
  readonly kind: 'admin_list';
  readonly entity: string;
  readonly path: string | null;
  /** 1 to 200 rows. */
  readonly limit: number;
  /** Opaque, from the provider's previous answer. */
  readonly cursor: string | null;
}

/** An admin action. `path` is the manifest's `invoke_path`, `null` where it has none. */
export interface AdminActionOperation {
  readonly kind: 'admin_action';
  readonly action: string;
  readonly path: string | null;
  readonly input: unknown;
  /** The same as JSON, in the bytes of the caller: what is sent on, so that numbers survive. */
  readonly inputJson: Uint8Array;
}

/** Delivery of the effective configuration. Repeated until it is answered with 2xx. */
export interface ConfigureOperation {
  readonly kind: 'configure';
  readonly path: string | null;
  /** Grows by each write, from 0. */
  readonly revision: number;
  /** Keyed `service/key`. */
  readonly values: Readonly<Record<string, unknown>>;
}

export type Operation =
  | HttpRouteOperation
  | AdminListOperation
  | AdminActionOperation
  | ConfigureOperation;

export interface CallContext {
  readonly module: string;
  /** `null` when the host calls on its own account (delivery, manifest). */
  readonly actor: Actor | null;
  readonly requestId: string;
  readonly correlationId: string;
}

export interface Invocation {
  /** The host's own id of this call, new for each call: `modgate-call-id`. */
  readonly id: string;
  readonly operation: Operation;
  /** All headers the provider is to get but its own credentials; lower-case names, safe values. */
  readonly headers: Readonly<Record<string, string>>;
  /** Which of `Provider.endpoints()` to use; absent when the provider names none. */
  readonly endpoint?: string;
  readonly context: CallContext;
  /** An answer with a longer body is a `protocol` failure; stop reading there. Bytes. */
  readonly maxResponseBytes: number;
  /** Aborted at the deadline or when the caller has gone; the adapter then stops and frees all it holds. */
  readonly signal: AbortSignal;
  /**
   * The same as `signal`, which is only made when it is read: an adapter that needs no AbortSignal listens
   * here and saves 5 µs a call. Absent where the host made a signal anyway.
   */
  readonly cancellation?: Cancellation;
}

/** What the provider answered. Any status is an answer; the host judges it. */
export interface Outcome {
  /** 100 to 599. */
  readonly status: number;
  /** Lower-case names; a repeated header is joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as they came; `null` or empty when there were none. */
  readonly body: Uint8Array | null;
}
