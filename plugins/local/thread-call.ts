import type {
  CallContext,
  Invocation,
  ProviderFailure,
  ProviderOperation,
} from '../../core/contract/index.js';
import { receiveOperation } from './sent-operation.js';
import type { SentInvocation } from './thread-messages.js';

/** A call in the thread. Its signal is created on access, which most handlers never do. */
export class ThreadCall implements Invocation {
  readonly number: number;
  readonly id: string;
  readonly operation: ProviderOperation;
  readonly headers: Readonly<Record<string, string>>;
  readonly context: CallContext;
  readonly maxResponseBytes: number;
  #controller: AbortController | null = null;
  #reason: ProviderFailure | null = null;

  constructor(number: number, { id, operation, headers, context, ...rest }: SentInvocation) {
    this.number = number;
    this.id = id;
    this.operation = receiveOperation(operation);
    this.headers = headers;
    this.context = context;
    this.maxResponseBytes = rest.maxResponseBytes;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#reason !== null;
  }

  abort(reason: ProviderFailure): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
