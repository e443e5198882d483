import type {
  CallContext,
  Cancellation,
  Invocation,
  ProviderOperation,
} from '../contract/index.js';
import type { Deadline } from './deadline.js';

type Given = Pick<Invocation, 'id' | 'operation' | 'headers' | 'context' | 'maxResponseBytes'>;

/**
 * One attempt as the adapter sees it. `signal` is an own property, so that a copy has it, and is created
 * when it is read. `cancellation` is not, so that a copy with another signal does not follow this one.
 */
export class EndpointInvocation implements Invocation {
  readonly id: string;
  readonly operation: ProviderOperation;
  readonly headers: Readonly<Record<string, string>>;
  readonly context: CallContext;
  readonly maxResponseBytes: number;
  declare readonly endpoint?: string;
  declare readonly signal: AbortSignal;
  readonly #deadline: Deadline;

  constructor(given: Given, endpoint: string | null, deadline: Deadline) {
    this.id = given.id;
    this.operation = given.operation;
    this.headers = given.headers;
    this.context = given.context;
    this.maxResponseBytes = given.maxResponseBytes;
    if (endpoint !== null) this.endpoint = endpoint;
    this.#deadline = deadline;
    Object.defineProperty(this, 'signal', LAZY_SIGNAL);
  }

  get cancellation(): Cancellation {
    return this.#deadline;
  }

  static signalOf(invocation: EndpointInvocation): AbortSignal {
    return invocation.#deadline.signal;
  }
}

const LAZY_SIGNAL = {
  get(this: EndpointInvocation): AbortSignal {
    return EndpointInvocation.signalOf(this);
  },
  enumerable: true,
};
