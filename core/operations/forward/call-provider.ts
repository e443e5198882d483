import { isProviderFailure, type ProviderOperation } from '../../contract/index.js';
import type { ErrorDetail } from '../../errors.js';
import {
  createTraceContext,
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from '../../lib/trace-context.js';
import type { LiveModule } from '../../modules/live-module.js';
import { type CheckedOutcome, ProviderStatus } from '../../provider/outcome.js';
import type { AttemptResult, ProviderCall } from '../../provider/provider-call.js';
import { Authorization } from '../authorization.js';
import type { CallBodies, CallerRequest, RequestTrace } from '../request.js';
import { createFailureError, createStatusError } from './provider-error.js';
import { createProviderHeaders } from './provider-headers.js';

export interface ProviderRequest<T, O extends ProviderOperation = ProviderOperation> {
  /** That the caller may ask it. */
  readonly authorization: Authorization;
  readonly module: LiveModule;
  readonly operation: O;
  readonly request: CallerRequest;
  /** What the caller's `connection` names, in lower case. */
  readonly hopByHop: ReadonlySet<string>;
  /** Whether the caller's `content-type` describes what the provider gets. */
  readonly hasCallersBody: boolean;
  readonly timeoutMs: number;
  /** Whether the provider may be asked twice; `with_key`: where it gets an `idempotency-key`. */
  readonly retryPolicy: 'always' | 'with_key' | 'never';
  /** Headers beyond what every call carries; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a 502 says of the question, made when there is one. */
  readonly describeError: (module: LiveModule, operation: O) => ErrorDetail[];
  readonly parseResponse: (outcome: CheckedOutcome) => T;
}

/**
 * Asks the provider on behalf of a caller.
 * @throws HostError 502 (or the provider's own refusal, where that is passed on), CallerGone.
 */
export async function callProvider<T, O extends ProviderOperation>(
  question: ProviderRequest<T, O>,
): Promise<T> {
  const { module, operation, describeError } = question;
  Authorization.assert(question.authorization);
  try {
    const { value } = await module.client.call(new ForwardedCall(question), question.parseResponse);
    return value;
  } catch (error) {
    if (error instanceof ProviderStatus) {
      throw createStatusError(error, module.descriptor, describeError(module, operation));
    }
    if (isProviderFailure(error)) throw createFailureError(error, describeError(module, operation));
    throw error;
  }
}

/** What the guard makes attempts of: one object a call, and no closure. */
class ForwardedCall implements ProviderCall {
  readonly operation: ProviderOperation;
  readonly context: ProviderCall['context'];
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal: ProviderCall['signal'];
  readonly isRepeatable: boolean;
  readonly hashKey: string | null;
  readonly trace: RequestTrace;
  readonly #traceContext: TraceContext;

  constructor(question: Omit<ProviderRequest<unknown>, 'describeError' | 'parseResponse'>) {
    const { module, operation, request, hopByHop, retryPolicy } = question;
    const { requestId, correlationId, actor, trace } = request;
    const traceparent = hopByHop.has('traceparent')
      ? undefined
      : request.headers.get('traceparent');
    const callersTrace = parseTraceparent(traceparent);
    this.#traceContext = callersTrace ?? createTraceContext();
    this.operation = operation;
    this.context = { module: module.name, actor, requestId, correlationId };
    this.headers = createProviderHeaders({
      request,
      hopByHop,
      forwardHeaders: module.descriptor.forwardHeaders,
      isCallersTrace: callersTrace !== null,
      hasBody: question.hasCallersBody,
    });
    if (question.headers !== undefined) Object.assign(this.headers, question.headers);
    this.timeoutMs = question.timeoutMs;
    this.signal = request.signal;
    this.isRepeatable =
      retryPolicy === 'always' ||
      (retryPolicy === 'with_key' && Boolean(this.headers['idempotency-key']));
    const { hashHeader } = module.client;
    this.hashKey = hashHeader === null ? null : (request.headers.get(hashHeader) ?? null);
    this.trace = trace;
    trace.traceId = trace.span?.traceId ?? this.#traceContext.traceId;
    trace.bodies = createBodies(module, operation);
  }

  nextTraceparent(): string {
    return this.trace.span?.beginAttempt(this.operation) ?? formatTraceparent(this.#traceContext);
  }

  onAttemptEnd(result: AttemptResult): void {
    const { span, bodies } = this.trace;
    span?.endAttempt(result);
    if (bodies !== null) bodies.response = result.outcome?.body ?? null;
  }
}

/** Bodies are nobody's business unless the descriptor says so. */
function createBodies({ descriptor }: LiveModule, operation: ProviderOperation): CallBodies | null {
  const { captureBytes } = descriptor.records;
  if (captureBytes === 0 || operation.kind !== 'http_route') return null;
  return { captureBytes, request: operation.body, response: null };
}
