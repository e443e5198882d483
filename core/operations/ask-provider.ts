import { isProviderFailure, type Operation } from '../contract/index.js';
import type { ErrorDetail } from '../errors.js';
import type { LiveModule } from '../host/live-module.js';
import type { CheckedOutcome } from '../host/outcome-check.js';
import { ProviderStatus } from '../host/provider-status.js';
import { createTraceContext, formatTraceparent, parseTraceparent } from '../lib/trace-context.js';
import type { CallerRequest } from './caller-request.js';
import { Decision } from './decision.js';
import { createFailureError, createStatusError } from './provider-error.js';
import { createProviderHeaders } from './provider-headers.js';
import type { CallBodies } from './request-trace.js';

export interface ProviderQuestion<T> {
  /** That the caller may ask it. */
  readonly decision: Decision;
  readonly module: LiveModule;
  readonly operation: Operation;
  readonly request: CallerRequest;
  /** What the caller's `connection` names, in lower case. */
  readonly hopByHop: ReadonlySet<string>;
  /** Whether the caller's `content-type` describes what the provider gets. */
  readonly hasCallersBody: boolean;
  readonly timeoutMs: number;
  /** Whether the provider may be asked twice; judged by the headers that it would get. */
  readonly isRepeatable: (headers: Readonly<Record<string, string>>) => boolean;
  /** Headers beyond what every call carries; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a 502 says of the question, made when there is one. */
  readonly describe: () => ErrorDetail[];
  readonly judge: (outcome: CheckedOutcome) => T;
}

/**
 * Asks the provider on behalf of a caller.
 * @throws HostError 502 (or the provider's own refusal, where that is passed on), CallerGone.
 */
export async function askProvider<T>(question: ProviderQuestion<T>): Promise<T> {
  const { decision, module, operation, request, hopByHop, timeoutMs } = question;
  Decision.require(decision);
  const traceparent = hopByHop.has('traceparent') ? undefined : request.headers.get('traceparent');
  const callersTrace = parseTraceparent(traceparent);
  const { span } = request.trace;
  const trace = callersTrace ?? createTraceContext();
  request.trace.traceId = span?.traceId ?? trace.traceId;
  const headers = createProviderHeaders({
    request,
    hopByHop,
    forwardHeaders: module.descriptor.forwardHeaders,
    isCallersTrace: callersTrace !== null,
    hasBody: question.hasCallersBody,
  });
  if (question.headers !== undefined) Object.assign(headers, question.headers);
  const { hashHeader } = module.guard;
  request.trace.bodies = createBodies(question);
  try {
    const { value } = await module.guard.call(
      {
        operation,
        context: {
          module: module.name,
          actor: request.actor,
          requestId: request.requestId,
          correlationId: request.correlationId,
        },
        headers,
        nextTraceparent: () => span?.beginAttempt(operation) ?? formatTraceparent(trace),
        onAttemptEnd: (result) => {
          span?.endAttempt(result);
          const { bodies } = request.trace;
          if (bodies !== null) bodies.response = result.outcome?.body ?? null;
        },
        timeoutMs,
        signal: request.signal,
        isRepeatable: question.isRepeatable(headers),
        hashKey: hashHeader === null ? null : (request.headers.get(hashHeader) ?? null),
        trace: request.trace,
      },
      question.judge,
    );
    return value;
  } catch (error) {
    if (error instanceof ProviderStatus) {
      throw createStatusError(error, module.descriptor, question.describe());
    }
    if (isProviderFailure(error)) throw createFailureError(error, question.describe());
    throw error;
  }
}

/** Bodies are nobody's business unless the descriptor says so. */
function createBodies({ module, operation }: ProviderQuestion<unknown>): CallBodies | null {
  const { captureBytes } = module.descriptor.records;
  if (captureBytes === 0 || operation.kind !== 'http_route') return null;
  return { captureBytes, request: operation.body, response: null };
}
