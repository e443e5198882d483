import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traceApi,
} from '@opentelemetry/api';
import { isProviderFailure } from '../contract/index.js';
import type { AttemptResult } from '../host/guarded-call.js';
import { parseTraceparent } from '../lib/trace-context.js';
import type { RequestSpan, TracedRequest } from '../operations/request-span.js';

/** Where the span id stands in a valid `traceparent` (W3C Trace Context, 3.2.2). */
const SPAN_ID = [36, 52] as const;
const LEAST_SERVER_ERROR = 500;
const LEAST_ERROR = 400;
const TRACEPARENT_IS_HOP_BY_HOP = /(?:^|,)\s*traceparent\s*(?:,|$)/i;

/** Names and attributes follow OpenTelemetry's conventions for HTTP; a raw target is never among them. */
export function beginRequestSpan(tracer: Tracer, request: TracedRequest): RequestSpan {
  const { method, trace } = request;
  const parent = createParentContext(request);
  const server = tracer.startSpan(
    method,
    {
      kind: SpanKind.SERVER,
      attributes: { 'http.request.method': method, 'modgate.request_id': request.requestId },
    },
    parent,
  );
  const context = traceApi.setSpan(parent, server);
  let attempt: Span | null = null;
  return {
    traceId: server.spanContext().traceId,
    beginAttempt: () => {
      attempt = tracer.startSpan(nameSpan(request), { kind: SpanKind.CLIENT }, context);
      return formatSpan(attempt);
    },
    endAttempt: (result) => {
      attempt?.setAttributes({ ...describeRoute(request), ...describeAttempt(request) });
      if (attempt !== null) endAttempt(attempt, result);
      attempt = null;
    },
    end: (status) => {
      server.updateName(nameSpan(request));
      server.setAttributes({ ...describeRoute(request), 'http.response.status_code': status });
      if (trace.failure !== null) server.setAttribute('error.type', trace.failure);
      if (status >= LEAST_SERVER_ERROR) server.setStatus({ code: SpanStatusCode.ERROR });
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
  return traceApi.setSpanContext(ROOT_CONTEXT, {
    traceId: parsed.traceId,
    spanId: header.slice(...SPAN_ID),
    traceFlags: Number.parseInt(parsed.flags, 16),
    isRemote: true,
  });
}

function formatSpan(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** `GET /items/{id}`; the method alone where no route matched. */
function nameSpan({ method, trace }: TracedRequest): string {
  return trace.route === null ? method : `${method} ${trace.route}`;
}

function describeRoute({ trace }: TracedRequest): Attributes {
  return {
    ...(trace.route !== null && { 'http.route': trace.route }),
    ...(trace.module !== null && { 'modgate.module': trace.module }),
  };
}

function describeAttempt({ method, trace }: TracedRequest): Attributes {
  return {
    'http.request.method': method === 'HEAD' ? 'GET' : method,
    ...(trace.endpoint !== null && { 'modgate.endpoint': trace.endpoint }),
    ...(trace.attempts > 1 && { 'http.request.resend_count': trace.attempts - 1 }),
  };
}

function endAttempt(span: Span, { outcome, error }: AttemptResult): void {
  if (outcome !== undefined) span.setAttribute('http.response.status_code', outcome.status);
  const failure = outcome === undefined ? nameFailure(error) : nameStatus(outcome.status);
  if (failure !== null) {
    span.setAttribute('error.type', failure);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function nameFailure(error: unknown): string {
  return isProviderFailure(error) ? error.failure : 'protocol';
}

function nameStatus(status: number): string | null {
  return status >= LEAST_ERROR ? String(status) : null;
}
