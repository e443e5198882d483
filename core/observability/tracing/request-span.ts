import {
  type Attributes,
  type Context,
  createTraceState,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traceApi,
} from '@opentelemetry/api';
import { ALL_CALL_MEMBERS, type CallFields, type Rejection } from '../../contract/call-record.js';
import { isProviderFailure, type ProviderOperation } from '../../contract/index.js';
import { describeFailure } from '../../lib/failure-detail.js';
import { isValidTracestate, parseTraceparent } from '../../lib/trace-context.js';
import type { RequestSpan, RequestTracing, TracedRequest } from '../../operations/request.js';
import { MIN_SERVER_ERROR } from '../../provider/circuit-breaker.js';
import type { AttemptResult } from '../../provider/provider-call.js';

/** https://opentelemetry.io/docs/specs/semconv/registry/attributes/http/#http-request-method */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
]);

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
]);

export interface Tracing extends RequestTracing {
  /** Exports the remaining spans, for at most a second. Never throws. */
  close(): Promise<void>;
}

/** The HTTP methods of operations other than routes. */
const METHODS = { admin_list: 'GET', admin_action: 'POST', configure: 'PUT' } as const;

/** Position of the parent id in a valid `traceparent`. */
const SPAN_ID = [36, 52] as const;
const MIN_ERROR = 400;
/** Bit 1 of the flags: the trace id is random. The SDK does not carry it from parent to child. */
const RANDOM_FLAG = 2;
const TRACEPARENT_IS_HOP_BY_HOP = /(?:^|,)\s*traceparent\s*(?:,|$)/i;

/**
 * Names and attributes follow OpenTelemetry's conventions for HTTP, except `url.path`, `url.query` and
 * `url.full`: a raw target may hold secrets, so spans have the template instead.
 */
export function beginRequestSpan(tracer: Tracer, request: TracedRequest): RequestSpan {
  const parent = createParentContext(request);
  const kind = SpanKind.SERVER;
  const now = createClock();
  const name = nameMethod(request.method).name;
  const server = tracer.startSpan(name, { kind, startTime: now() }, parent);
  const context = traceApi.setSpan(parent, server);
  const randomFlag = (traceApi.getSpanContext(parent)?.traceFlags ?? 0) & RANDOM_FLAG;
  let attempt: Span | null = null;
  return {
    traceId: server.spanContext().traceId,
    beginAttempt: (operation) => {
      const target = describeOperation(operation);
      const options = { kind: SpanKind.CLIENT, startTime: now() };
      attempt = tracer.startSpan(nameSpan(target), options, context);
      if (attempt.isRecording()) attempt.setAttributes(describeTarget(target));
      return formatSpan(attempt.spanContext(), randomFlag);
    },
    endAttempt: (result) => {
      if (attempt?.isRecording()) describeAttempt(attempt, request, result);
      attempt?.end(now());
      attempt = null;
    },
    end: (status, rejection) => {
      if (server.isRecording()) describeRequest(server, request, status, rejection);
      server.end(now());
    },
  };
}

/**
 * Reads the wall clock once, so that the spans of a request are nested in time: the SDK reads it for
 * each span, in whole milliseconds.
 */
function createClock(): () => HrTime {
  const startMs = Date.now() - performance.now();
  return () => {
    const ms = startMs + performance.now();
    const seconds = Math.floor(ms / 1000);
    return [seconds, Math.trunc((ms - seconds * 1000) * 1_000_000)];
  };
}

/** The caller's span, unless `connection` declares its header hop-by-hop. */
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
    ...(traceState !== undefined &&
      isValidTracestate(traceState) && { traceState: createTraceState(traceState) }),
  });
}

function formatSpan({ traceId, spanId, traceFlags }: SpanContext, randomFlag: number): string {
  return `00-${traceId}-${spanId}-${(traceFlags | randomFlag).toString(16).padStart(2, '0')}`;
}

interface SpanTarget {
  readonly method: string;
  readonly template: string | null;
}

function describeOperation(operation: ProviderOperation): SpanTarget {
  if (operation.kind === 'http_route') {
    return { method: operation.method, template: operation.declaredPath };
  }
  return { method: METHODS[operation.kind], template: operation.path };
}

/** `GET /items/{id}`; only the method without a matching route. */
function nameSpan({ method, template }: SpanTarget): string {
  const { name } = nameMethod(method);
  return template === null ? name : `${name} ${template}`;
}

function describeTarget({ method, template }: SpanTarget): Attributes {
  return {
    'http.request.method': method,
    ...(template !== null && { 'url.template': template }),
  };
}

function describeRequest(
  span: Span,
  request: TracedRequest,
  status: number,
  rejection: Rejection | null,
): void {
  const { method, scheme, headers, facts, hostRoute } = request;
  const route = hostRoute ?? facts.route;
  const failure = facts.failure ?? (status >= MIN_SERVER_ERROR ? String(status) : null);
  span.updateName(nameSpan({ method, template: route }));
  span.setAttributes({
    ...nameMethod(method).attributes,
    ...readAuthority(scheme, headers.get('host')),
    'url.scheme': scheme,
    'http.response.status_code': status,
    ...(route !== null && { 'http.route': route }),
    ...(failure !== null && { 'error.type': failure }),
    ...describeCall({ ...facts, ...rejection, request_id: request.requestId }),
  });
  if (status >= MIN_SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR });
}

const CALL_ATTRIBUTES = Object.entries(ALL_CALL_MEMBERS).filter(([, member]) => member.attribute);

function describeCall(call: Partial<CallFields & Rejection>): Attributes {
  return Object.fromEntries(
    CALL_ATTRIBUTES.flatMap(([name, { attribute = name }]) => {
      const value = call[name as keyof CallFields] ?? null;
      return value === null ? [] : [[attribute, value]];
    }),
  );
}

function describeAttempt(
  span: Span,
  { facts }: TracedRequest,
  { outcome, error }: AttemptResult,
): void {
  const failure = outcome === undefined ? nameFailure(error) : nameStatus(outcome.status);
  span.setAttributes({
    ...(facts.module !== null && { 'modgate.module': facts.module }),
    ...(facts.endpoint !== null && describeServer(facts.endpoint)),
    ...(facts.attempts > 1 && { 'http.request.resend_count': facts.attempts - 1 }),
    ...(outcome !== undefined && { 'http.response.status_code': outcome.status }),
    ...(failure !== null && { 'error.type': failure }),
    ...(outcome === undefined && { 'modgate.failure_detail': describeFailure(error) }),
  });
  if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR });
}

function nameFailure(error: unknown): string {
  return isProviderFailure(error) ? error.failure : 'protocol';
}

function nameStatus(status: number): string | null {
  return status >= MIN_ERROR ? String(status) : null;
}

/** Unknown methods are reported as `_OTHER`: a caller must not be able to create span names. */
export function nameMethod(method: string): {
  readonly name: string;
  readonly attributes: Attributes;
} {
  if (KNOWN_METHODS.has(method)) {
    return { name: method, attributes: { 'http.request.method': method } };
  }
  const attributes = { 'http.request.method': '_OTHER', 'http.request.method_original': method };
  return { name: 'HTTP', attributes };
}

/**
 * Describes the endpoint of an attempt; an endpoint that is not a URL has no address and no port.
 */
export function describeServer(endpoint: string): Attributes {
  return {
    'modgate.endpoint': endpoint,
    ...(URL.canParse(endpoint) && describeAddress(new URL(endpoint))),
  };
}

/** Reads address and port of a validated `host` header. */
export function readAuthority(scheme: 'http' | 'https', host: string | undefined): Attributes {
  const url = `${scheme}://${host}`;
  if (host === undefined || !URL.canParse(url)) return {};
  return describeAddress(new URL(url)) ?? {};
}

function describeAddress({ protocol, hostname, port }: URL): Attributes | null {
  const defaultPort = DEFAULT_PORTS.get(protocol);
  if (defaultPort === undefined) return null;
  return {
    'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
    'server.port': port === '' ? defaultPort : Number(port),
  };
}
