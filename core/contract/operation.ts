import type { Duplex } from 'node:stream';
import type { Actor } from './actor.js';
import type { BodyStream } from './body-stream.js';
import type { Cancellation } from './cancellation.js';
import type { Method } from './manifest.js';
import type { Progress } from './progress.js';
import type { Secret } from './secret.js';

/** A call of a declared route. Bytes are passed on unchanged in both directions. */
export interface HttpRouteOperation {
  /** Identifies the operation. */
  readonly kind: 'http_route';
  /** HEAD only with `supports.streams`: otherwise the host sends GET and omits the body of the response. */
  readonly method: Method | 'HEAD';
  /** The template of the manifest: `/contacts/{id}`. */
  readonly declaredPath: string;
  /** Raw path and query as the client sent them, ready to send: `/contacts/a%20b?x=1`. */
  readonly target: string;
  /** `/` and the decoded segments: `/contacts/a b`. */
  readonly providerPath: string;
  /** Decoded parameters by name, a `{rest...}` joined with `/`; an object without a prototype. */
  readonly pathParams: Readonly<Record<string, string>>;
  /**
   * The result of {@link ProviderAdapter.operation} for the route. The same object for each call of one version of the
   * manifest. Absent for an adapter without it.
   */
  readonly options?: unknown;
  /**
   * The client's bytes, valid JSON, at most `limits.request_bytes` (default 1 MiB); `null` for a call without
   * a body, which any method may be.
   */
  readonly body: Uint8Array | null;
  /**
   * Instead of `body`: any bytes, or long JSON that is checked on its way, which arrive while the adapter reads. Read
   * it at most once, when the request can be sent, and no faster than the provider takes it. If it throws, the
   * connection to the provider must be closed, so that no provider accepts the body as complete. Its length is
   * `content-length` of `headers`; without that header it is not known. The last bytes of JSON come only once the body
   * has proved valid. Used only with `supports.streams`.
   */
  readonly bodyStream?: BodyStream;
  /**
   * The call opens a WebSocket: send `connection: upgrade` and `upgrade` with this value besides
   * `headers`, which contain the key, the version, and the offers of the client. A 101 is returned
   * with {@link Outcome.connection}, and the host validates it. Any other response is returned as
   * usual. Used only with `supports.upgrade`.
   */
  readonly upgrade?: 'websocket';
}

/**
 * One page of an admin entity. The response is `{"records": […], "next_cursor": string | null}` as JSON.
 * Used only with `supports.admin`.
 */
export interface AdminListOperation {
  /** Identifies the operation. */
  readonly kind: 'admin_list';
  /** The name of the entity in the manifest. */
  readonly entity: string;
  /** The manifest's `list_path`, or `null`: an adapter that needs it then fails with `refused`. */
  readonly path: string | null;
  /** 1 to 200 rows. */
  readonly limit: number;
  /**
   * Opaque, from the provider's previous response; `null` for the first page. Untrusted: it comes from the
   * client.
   */
  readonly cursor: string | null;
}

/** An admin action. The response is any JSON, or empty. Used only with `supports.admin`; never repeated. */
export interface AdminActionOperation {
  /** Identifies the operation. */
  readonly kind: 'admin_action';
  /** The name of the action in the manifest. */
  readonly action: string;
  /** The manifest's `invoke_path`, or `null`: an adapter that needs it then fails with `refused`. */
  readonly path: string | null;
  /** The client's input, parsed and validated by the action's `input_schema`. */
  readonly input: unknown;
  /** The same as JSON in the client's bytes. Send these, so that numbers keep their precision. */
  readonly inputJson: Uint8Array;
}

/**
 * Delivery of the effective configuration to each endpoint, at start and after each change. Repeated with
 * backoff (200 ms to 10 s) until the response is 2xx, so the same revision may be delivered twice, and a
 * newer one before an older one was accepted. Used only with `supports.configure`.
 */
export interface ConfigureOperation {
  /** Identifies the operation. */
  readonly kind: 'configure';
  /**
   * The manifest's `delivery_path`, or `null`: an adapter that needs it then fails with `refused`.
   */
  readonly path: string | null;
  /** Starts at 0 and increases with each write. */
  readonly revision: number;
  /** Every effective value with defaults, by `service/key`. Contains secrets: never log it. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** The operation of a call. A later version may add kinds: reject unknown ones. */
export type ProviderOperation =
  | HttpRouteOperation
  | AdminListOperation
  | AdminActionOperation
  | ConfigureOperation;

/** The context of a call, for logs and traces. The host has already authorized the call. */
export interface CallContext {
  /** The name in the descriptor. */
  readonly module: string;
  /** `null` for calls of the host itself (delivery, manifest). */
  readonly actor: Actor | null;
  /** `x-request-id`: `^[A-Za-z0-9._:-]{1,128}$`, chosen by the client or the host. */
  readonly requestId: string;
  /** `x-correlation-id`, likewise. */
  readonly correlationId: string;
}

/**
 * One attempt of one call. The host retries with a new invocation where that is safe; an adapter never
 * retries.
 */
export interface Invocation {
  /** The host's id of this call: `modgate-call-id`. */
  readonly id: string;
  /** The requested operation. */
  readonly operation: ProviderOperation;
  /**
   * All headers for the provider except its credentials: lower-case names, values without control
   * characters. A transport with headers passes them on unchanged.
   */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The selected endpoint of `Provider.endpoints()`; absent if the provider has none. One that it does not
   * have any more fails as `unavailable`.
   */
  readonly endpoint?: string;
  /** The context of the call. */
  readonly context: CallContext;
  /**
   * A response with a longer body is a `protocol` failure; stop reading there. Bytes, at least 1, default
   * 4 MiB.
   */
  readonly maxResponseBytes: number;
  /**
   * A response whose body is longer is returned as a stream, as soon as more has arrived or its head announces it;
   * with 0 once its head has.
   * Bytes; absent: `maxResponseBytes`, so that nothing is streamed. Used only with `supports.streams`.
   */
  readonly holdBytes?: number;
  /**
   * Aborted at the deadline or when the client closes the connection. Its reason is the `ProviderFailure` to
   * throw, from a stream as well. The adapter then stops, releases its resources and settles at once; a call that
   * is already aborted is never sent. The host does not wait for an adapter that ignores it.
   */
  readonly signal: AbortSignal;
  /**
   * The same as `signal`, which is only created when it is read: an adapter that needs no AbortSignal
   * listens here and saves 5 µs per call. Absent if the host has a signal anyway: `cancellation ?? signal`.
   */
  readonly cancellation?: Cancellation;
  /**
   * Counts bytes of the response's body while they arrive, for the memory budget of the host, which aborts the
   * call when they exceed it. Call it for each part; the host counts what was not counted when the response is
   * complete. Absent in a copy of the invocation.
   */
  countReceived?(bytes: number): void;
  /**
   * Reserves memory of the caller for bytes that the adapter holds besides those of the host, before it holds them: such
   * as each part of a {@link HttpRouteOperation.bodyStream} that it needs as a whole, and what it decodes from a
   * response. Beyond a budget of the host, the call is aborted. Absent in a copy of the invocation.
   * @returns releases them, at most once; the host does so when the response has been sent
   * @throws ProviderFailure beyond a budget, to be thrown on.
   */
  hold?(bytes: number): () => void;
  /**
   * Reports that the provider works on the call. The time of the call then starts anew, but at most until
   * `limits.stream.max_ms` of the descriptor have passed since its start, and who made the call may see the report. Only
   * the first ten of a second count. Report only what belongs to this call. Absent in a copy of the invocation.
   */
  reportProgress?(progress: Progress): void;
  /**
   * Whether the host can use a body behind this head, whose names are lower-case. An adapter that waits for
   * bodies may call it once a body is announced or has begun. For false it returns the response without its
   * body at once, and stops the transfer. Absent in a copy of the invocation.
   */
  needsBody?(status: number, headers: Readonly<Record<string, string>>): boolean;
}

/** The response of the provider, with any status. */
export interface Outcome {
  /** 100 to 599; anything else is a `protocol` failure. */
  readonly status: number;
  /** Lower-case names; a repeated header is joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The bytes as received, neither decoded nor decompressed; `null` or empty if there were none. The chunks
   * of a body need not be joined. The bytes must not be changed afterwards.
   *
   * A stream (see `Invocation.holdBytes`) is read once, as fast as the client reads, and must throw a
   * `ProviderFailure` if it does not arrive whole. The host may stop reading at any time; the adapter then releases
   * the connection.
   */
  readonly body: Uint8Array | readonly Uint8Array[] | BodyStream | null;
  /**
   * Whether the end of the body is known. `false` for one that ends with its connection, which was closed in
   * order: the host then passes on only what shows its own end, such as a JSON object and a complete event.
   * Default true.
   */
  readonly isDelimited?: boolean;
  /**
   * The connection behind a 101, for a call with {@link HttpRouteOperation.upgrade}, and only then: what was read
   * behind the head is its first bytes. It belongs to the host from now on, which reads no faster than the client
   * does, and destroys it. It must not be aborted by the signal of the call any more, and closes with the scope.
   */
  readonly connection?: Duplex;
  /**
   * Credentials that the request carried beside the secrets of the config, such as a token that the adapter
   * requested. The host masks them in what it shows of the response. Default: none.
   */
  readonly secrets?: readonly Secret[];
}

/** Whether the body of an outcome is a stream. */
export function isBodyStream(body: Outcome['body']): body is BodyStream {
  return body !== null && Symbol.asyncIterator in body;
}

/**
 * The body of an outcome as one array; empty if there was none.
 * @throws TypeError for a stream.
 */
export function joinBody(body: Outcome['body']): Uint8Array {
  if (body instanceof Uint8Array) return body;
  if (isBodyStream(body)) throw new TypeError('a stream has to be read');
  return body === null ? new Uint8Array() : Buffer.concat(body);
}
