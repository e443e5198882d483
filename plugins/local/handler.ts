import type {
  Actor,
  AdminActionOperation,
  AdminListOperation,
  Log,
  Method,
} from '../../core/contract/index.js';

/** A call of a route as the handler receives it. */
interface LocalRouteOperation {
  readonly kind: 'http_route';
  readonly method: Method;
  /** The template of the manifest: `/contacts/{id}`. */
  readonly declaredPath: string;
  /** `/` and the decoded segments. */
  readonly providerPath: string;
  /** Decoded; an object without a prototype. */
  readonly pathParams: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON; `undefined` without a body. */
  readonly body: unknown;
  /** The bytes of the client, for values that JSON.parse changes: `12345678901234567890`, `1.10`. */
  readonly rawBody: Uint8Array | null;
}

export type LocalOperation = LocalRouteOperation | AdminListOperation | AdminActionOperation;

export interface LocalContext {
  readonly module: string;
  /** `null` for calls of the host itself. */
  readonly actor: Actor | null;
  readonly requestId: string;
  readonly correlationId: string;
  /** New for each call. */
  readonly callId: string;
  /** Aborted at the deadline or when the client disconnects; the response is then discarded. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** A folder of this module that survives a restart; created at the first access. */
  readonly stateDir: string;
}

interface LocalAnswer {
  /** 100 to 599. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A `Uint8Array` is sent unchanged; any other value as JSON, with `content-type:
   * application/json` unless `headers` has another type. Absent or `undefined`: no body. `null` is
   * the JSON `null`.
   */
  readonly body?: unknown;
}

/** The default export of the file. */
export type LocalHandler = (
  operation: LocalOperation,
  context: LocalContext,
) => LocalAnswer | Promise<LocalAnswer>;

export interface LocalConfiguration {
  /** Increases with each write, from 0. */
  readonly revision: number;
  /** Keyed `service/key`. */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface LocalModule {
  readonly handle: LocalHandler;
  readonly manifest?: unknown;
  /** Called at the start and after each change, and repeated until it succeeds. */
  readonly configure?: (configuration: LocalConfiguration) => void | Promise<void>;
  /** Called once, after the last call. */
  readonly close?: () => void | Promise<void>;
}
