import { isProviderFailure, type ProviderOperation } from '../../contract/index.js';
import type { ErrorDetail } from '../../errors.js';
import {
  createTraceContext,
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from '../../lib/trace-context.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { HeldMemory } from '../../provider/held-memory.js';
import { ProviderStatus } from '../../provider/outcome.js';
import type { AttemptResult, ParseResponse, ProviderCall } from '../../provider/provider-call.js';
import { Authorization } from '../authorization.js';
import type { CallBodies, CallerRequest, RequestFacts } from '../request.js';
import { createProviderHeaders } from './headers-to-provider.js';
import { createFailureError, createStatusError } from './provider-error.js';

interface ProviderRequest<T> {
  /** Proves that the caller may make the call. */
  readonly authorization: Authorization;
  readonly module: LiveModule;
  readonly operation: ProviderOperation;
  /** Its name; `null` for a bridge operation. */
  readonly route: string | null;
  readonly request: CallerRequest;
  /** The headers that the client's `connection` names, in lower case. */
  readonly hopByHop: ReadonlySet<string>;
  readonly timeoutMs: number;
  /** Whether the call may be repeated; `with_key`: if it has an `idempotency-key`. */
  readonly retryPolicy: 'always' | 'with_key' | 'never';
  /** Headers beyond those of every call; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The details of the call in a 502. */
  readonly describeCall: () => ErrorDetail[];
  readonly parseResponse: ParseResponse<T>;
}

/**
 * Calls the provider for a caller.
 * @throws HostError 502, or the provider's own error if the descriptor passes it through; ClientClosed.
 */
export async function callProvider<T>(given: ProviderRequest<T>): Promise<T> {
  const { module, describeCall } = given;
  Authorization.assert(given.authorization);
  try {
    const { value } = await module.client.call(new ForwardedCall(given), given.parseResponse);
    return value;
  } catch (error) {
    if (error instanceof ProviderStatus) {
      throw createStatusError(error, module.descriptor, describeCall());
    }
    if (isProviderFailure(error)) throw createFailureError(error, describeCall());
    throw error;
  }
}

/** The call that the provider client makes attempts of. */
class ForwardedCall implements ProviderCall {
  readonly operation: ProviderOperation;
  readonly route: string | null;
  readonly context: ProviderCall['context'];
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal: ProviderCall['signal'];
  readonly isRepeatable: boolean;
  readonly hashKey: string | null;
  declare readonly held?: HeldMemory;
  readonly facts: RequestFacts;
  readonly #traceContext: TraceContext;

  constructor(given: Omit<ProviderRequest<unknown>, 'describeCall' | 'parseResponse'>) {
    const { module, operation, request, hopByHop, retryPolicy } = given;
    const { requestId, correlationId, actor, facts } = request;
    const traceparent = hopByHop.has('traceparent')
      ? undefined
      : request.headers.get('traceparent');
    const clientTrace = parseTraceparent(traceparent);
    this.#traceContext = clientTrace ?? createTraceContext();
    this.operation = operation;
    this.route = given.route;
    this.context = { module: module.name, actor, requestId, correlationId };
    this.headers = createProviderHeaders({
      request,
      hopByHop,
      forwardHeaders: module.descriptor.forwardHeaders,
      isClientTrace: clientTrace !== null,
      hasBody: operation.kind === 'http_route' && operation.body !== null,
      // Only raw mode can pass on a 304.
      isConditional: module.descriptor.responses.mode === 'raw' && operation.kind === 'http_route',
    });
    if (given.headers !== undefined) Object.assign(this.headers, given.headers);
    this.timeoutMs = given.timeoutMs;
    this.signal = request.signal;
    this.isRepeatable =
      retryPolicy === 'always' ||
      (retryPolicy === 'with_key' && Boolean(this.headers['idempotency-key']));
    const { hashHeader } = module.client;
    this.hashKey = hashHeader === null ? null : (request.headers.get(hashHeader) ?? null);
    if (request.held !== undefined) this.held = request.held;
    this.facts = facts;
    facts.traceId = facts.span?.traceId ?? this.#traceContext.traceId;
    facts.bodies = createBodies(module, operation);
  }

  nextTraceparent(): string {
    return this.facts.span?.beginAttempt(this.operation) ?? formatTraceparent(this.#traceContext);
  }

  onAttemptEnd(result: AttemptResult): void {
    const { span, bodies } = this.facts;
    span?.endAttempt(result);
    if (bodies !== null) bodies.response = result.outcome?.body ?? null;
  }
}

/** Bodies are kept only if the descriptor enables it. */
function createBodies({ descriptor }: LiveModule, operation: ProviderOperation): CallBodies | null {
  const { captureBytes } = descriptor.records;
  if (captureBytes === 0 || operation.kind !== 'http_route') return null;
  return { captureBytes, request: operation.body, response: null };
}
