import type {
  AdminActionOperation,
  FailureCode,
  FailurePhase,
  HttpRouteOperation,
  Invocation,
  Log,
  Outcome,
  ProviderOperation,
} from '../../core/contract/index.js';
import type { LocalConfiguration } from './handler.js';
import type { SentBytes } from './sent-bytes.js';

export interface ThreadStart {
  /** The name as in the config; used in messages. */
  readonly name: string;
  readonly path: string;
  readonly stateDir: string | undefined;
  /** The configuration of the previous thread; `null` before the first delivery. */
  readonly configuration: LocalConfiguration | null;
}

/** The parts of an invocation that can be sent. */
export interface SentInvocation
  extends Omit<Invocation, 'signal' | 'cancellation' | 'endpoint' | 'operation'> {
  readonly operation: SentOperation;
}

export type SentOperation =
  | Exclude<ProviderOperation, HttpRouteOperation | AdminActionOperation>
  | (Omit<HttpRouteOperation, 'body'> & { readonly body: SentBytes | null })
  | (Omit<AdminActionOperation, 'inputJson'> & { readonly inputJson: SentBytes });

export interface SentOutcome extends Omit<Outcome, 'body'> {
  readonly body: SentBytes | null;
}

export type HostMessage =
  | { readonly kind: 'call'; readonly call: number; readonly invocation: SentInvocation }
  /** The thread must send `alive` at once. */
  | { readonly kind: 'abort'; readonly call: number; readonly failure: SentFailure }
  /** The host has written these log lines. */
  | { readonly kind: 'logged'; readonly lines: number }
  | { readonly kind: 'close' };

export type ThreadMessage =
  | { readonly kind: 'ready'; readonly manifest: SentManifest }
  /** The file cannot be used. */
  | { readonly kind: 'rejected'; readonly message: string }
  | { readonly kind: 'answer'; readonly call: number; readonly outcome: SentOutcome }
  | { readonly kind: 'failure'; readonly call: number; readonly failure: SentFailure }
  | { readonly kind: 'alive' }
  | {
      readonly kind: 'log';
      readonly level: keyof Log;
      readonly fields: Readonly<Record<string, unknown>>;
      readonly message: string;
    }
  /** `error` is the error of the module's `close`. */
  | { readonly kind: 'closed'; readonly error: string | null };

export type SentManifest =
  | { readonly value: Uint8Array }
  | { readonly value?: never; readonly failure: SentFailure };

/** A copied error would lose its brand. */
export interface SentFailure {
  readonly failure: FailureCode;
  readonly message: string;
  readonly status: number | null;
  readonly phase: FailurePhase;
  /** The detail, for operators. */
  readonly detail: string;
  /** The cause, for the log. */
  readonly cause: {
    readonly name: string;
    readonly message: string;
    readonly stack: string;
  } | null;
}
