import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traceApi,
} from '@opentelemetry/api';
import { isProviderFailure, type ProviderOperation } from '../../contract/index.js';
import { parseTraceparent } from '../../lib/trace-context.js';
import type { RequestSpan, RequestTracing, TracedRequest } from '../../operations/request.js';
import type { AttemptResult } from '../../provider/provider-call.js';
import { describeServer, nameMethod, readAuthority } from './attributes.js';

export interface Tracing extends RequestTracing {
  /** Sends what has not been sent, as far as that is possible in a second. Never throws. */
  close(): Promise<void>;
}

/** Contract 5. */
const METHODS = { admin_list: 'GET', admin_action: 'POST', configure: 'PUT' } as const;

/** Where the span id stands in a valid `traceparent` (W3C Trace Context, 3.2.2). */
const SPAN_ID = [36, 52] as const;
const LEAST_SERVER_ERROR = 500;
const LEAST_ERROR = 400;
const TRACEPARENT_IS_HOP_BY_HOP = /(?:^|,)\s*traceparent\s*(?:,|$)/i;

/**
 * Names and attributes follow OpenTelemetry's conventions for HTTP, but for `url.path`, `url.query` and
 * `url.full`: what a caller puts into a raw target may be anything, so the template stands for it.
 */
export function beginRequestSpan(tracer: Tracer, request: TracedRequest): RequestSpan {
  const parent = createParentContext(request);
  const kind = SpanKind.SERVER;
  const server = tracer.startSpan(nameMethod(request.method).name, { kind }, parent);
  const context = traceApi.setSpan(parent, server);
  let attempt: Span | null = null;
  return {
    traceId: server.spanContext().traceId,
    beginAttempt: (operation) => {
      const asked = describeOperation(operation);
      attempt = tracer.startSpan(nameSpan(asked), { kind: SpanKind.CLIENT }, context);
      if (attempt.isRecording()) attempt.setAttributes(describeAsked(asked));
      return formatSpan(attempt.spanContext());
    },
    endAttempt: (result) => {
      if (attempt?.isRecording()) describeAttempt(attempt, request, result);
      attempt?.end();
      attempt = null;
    },
    end: (status) => {
      if (server.isRecording()) describeRequest(server, request, status);
      server.end();
    },
  };
}

/** The caller's span, where it names one in a header that is meant for this host. */
function createParentContext({ headers }: TracedRequest): Context {
  const header = headers.get('traceparent');
  const parsed = parseTraceparent(header);
  if (parsed === null || header === undefined) return ROOT_CONTEXT;
  if (TRACEPARENT_IS_HOP_BY_HOP.test(headers.get('connection') ?? '')) return ROOT_CONTEXT;
  const traceState = headers.get('tracestate');
  return traceApi.setSpanContext(ROOT_CONTEXT, {
    traceId: parsed.traceId,
    spanId: header.slice(...SPAN_ID),
    traceFlags: Number.parseInt(parsed.flags, 16),
    isRemote: true,
    ...(traceState !== undefined && { traceState: createTraceState(traceState) }),
  });
}

function formatSpan({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** What is asked of whom: the template, never the target. */
interface Asked {
  readonly method: string;
  readonly template: string | null;
}

function describeOperation(operation: ProviderOperation): Asked {
  if (operation.kind === 'http_route') {
    return { method: operation.method, template: operation.declaredPath };
  }
  return { method: METHODS[operation.kind], template: operation.path };
}

/** `GET /items/{id}`; the method alone where no route matched. */
function nameSpan({ method, template }: Asked): string {
  const { name } = nameMethod(method);
  return template === null ? name : `${name} ${template}`;
}

function describeAsked({ method, template }: Asked): Attributes {
  return {
    'http.request.method': method,
    ...(template !== null && { 'url.template': template }),
  };
}

function describeRequest(span: Span, request: TracedRequest, status: number): void {
  const { method, scheme, headers, trace, hostRoute } = request;
  const route = hostRoute ?? trace.route;
  const failure = trace.failure ?? (status >= LEAST_SERVER_ERROR ? String(status) : null);
  span.updateName(nameSpan({ method, template: route }));
  span.setAttributes({
    ...nameMethod(method).attributes,
    ...readAuthority(scheme, headers.get('host')),
    'url.scheme': scheme,
    'http.response.status_code': status,
    'modgate.request_id': request.requestId,
    ...(route !== null && { 'http.route': route }),
    ...(trace.module !== null && { 'modgate.module': trace.module }),
    ...(failure !== null && { 'error.type': failure }),
  });
  if (status >= LEAST_SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR });
}

function describeAttempt(
  span: Span,
  { trace }: TracedRequest,
  { outcome, error }: AttemptResult,
): void {
  const failure = outcome === undefined ? nameFailure(error) : nameStatus(outcome.status);
  span.setAttributes({
    ...(trace.module !== null && { 'modgate.module': trace.module }),
    ...(trace.endpoint !== null && describeServer(trace.endpoint)),
    ...(trace.attempts > 1 && { 'http.request.resend_count': trace.attempts - 1 }),
    ...(outcome !== undefined && { 'http.response.status_code': outcome.status }),
    ...(failure !== null && { 'error.type': failure }),
  });
  if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR });
}

function nameFailure(error: unknown): string {
  return isProviderFailure(error) ? error.failure : 'protocol';
}

function nameStatus(status: number): string | null {
  return status >= LEAST_ERROR ? String(status) : null;
}
