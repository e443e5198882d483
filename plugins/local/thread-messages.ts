import type {
  AdminActionOperation,
  FailureCode,
  HttpRouteOperation,
  Invocation,
  Log,
  Outcome,
  ProviderOperation,
} from '../../core/contract/index.js';
import type { LocalConfiguration } from './handler.js';
import type { SentBytes } from './sent-bytes.js';

/** What a thread is started with. */
export interface ThreadStart {
  /** As the config has it: how messages name the file. */
  readonly name: string;
  readonly path: string;
  readonly stateDir: string | undefined;
  /** What the thread before had been given; `null` when nothing has been delivered yet. */
  readonly configuration: LocalConfiguration | null;
}

/** Everything of an invocation that can be sent. */
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
  /** To be answered with `alive` at once. */
  | { readonly kind: 'abort'; readonly call: number; readonly failure: SentFailure }
  /** So many lines of the log have been written. */
  | { readonly kind: 'logged'; readonly lines: number }
  | { readonly kind: 'close' };

export type ThreadMessage =
  | { readonly kind: 'ready'; readonly manifest: SentManifest }
  /** The file cannot be used. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'answer'; readonly call: number; readonly outcome: SentOutcome }
  | { readonly kind: 'failure'; readonly call: number; readonly failure: SentFailure }
  | { readonly kind: 'alive' }
  | {
      readonly kind: 'log';
      readonly level: keyof Log;
      readonly fields: Readonly<Record<string, unknown>>;
      readonly message: string;
    }
  /** `error` is what the module's `close` threw. */
  | { readonly kind: 'closed'; readonly error: string | null };

export type SentManifest =
  | { readonly value: unknown }
  | { readonly value?: never; readonly failure: SentFailure };

/** An error does not keep its brand on the way. */
export interface SentFailure {
  readonly failure: FailureCode;
  readonly message: string;
  readonly status: number | null;
  /** For the log. */
  readonly cause: {
    readonly name: string;
    readonly message: string;
    readonly stack: string;
  } | null;
}
