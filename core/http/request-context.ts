import type { Middleware, ParameterizedContext } from 'koa';
import type { Actor, Log } from '../contract/index.js';
import { HostError } from '../errors.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';
import type { CompletedRequest, RequestObserver } from '../observability/completed-request.js';
import { ProviderError } from '../operations/forward/provider-error.js';
import { ClientClosed, createRequestTrace, type RequestTrace } from '../operations/request.js';
import { discardBody } from './request/discard-body.js';
import { CallerHeaders } from './request/headers.js';
import { type RequestIds, readCorrelationId, readRequestId } from './request/ids.js';
import { createProblemReply } from './response/problem.js';
import type { Reply } from './response/reply.js';
import { ReplyQueue, type ReplyQueueOptions } from './response/reply-queue.js';

/** One request and its answer, from the parsed head to the last byte: `ctx.state.exchange`. */
export class RequestContext implements RequestIds {
  readonly headers: CallerHeaders;
  readonly requestId: string;
  readonly correlationId: string;
  readonly startedAt = performance.now();
  readonly trace: RequestTrace = createRequestTrace();
  /** Aborted when the caller hangs up before the answer is complete. */
  readonly signal = new LazyAbortController();
  actor: Actor | null = null;
  /** `null` until it is decided, and for a caller who has gone. */
  reply: Reply | null = null;
  /** `null` until the answer is decided. */
  ended: CompletedRequest | null = null;

  constructor(headers: CallerHeaders) {
    this.headers = headers;
    this.requestId = readRequestId(headers);
    this.correlationId = readCorrelationId(headers);
  }
}

export interface HostState {
  exchange: RequestContext;
}

export type HostContext = ParameterizedContext<HostState>;

export interface ContextOptions extends ReplyQueueOptions {
  readonly observers: RequestObservers;
}

/** Each is told of every request once, and of the same end. */
export interface RequestObservers {
  /** Called when the answer is decided, before its last byte leaves: who has it finds it counted. */
  readonly onDecided: RequestObserver;
  /** Called when the answer is out, or the caller has gone: nobody waits for what this does. */
  readonly onClosed: RequestObserver;
}

const CLIENT_CLOSED_STATUS = 499;

/** The outermost middleware: gives the request its ids, turns every error into a Problem, reports, replies. */
export function createContextMiddleware(options: ContextOptions): Middleware<HostState> {
  const { log, observers } = options;
  const replies = new ReplyQueue(options);
  return async (ctx, next) => {
    const { req, res } = ctx;
    const exchange = createRequestContext(ctx, observers);
    try {
      await next();
    } catch (error) {
      exchange.reply = replyToError(ctx, exchange, error, log);
    }
    if (exchange.signal.aborted) exchange.reply = null;
    const { reply } = exchange;
    if (!req.complete) res.once('finish', () => discardBody(req));
    exchange.ended = decideEnd(req.method ?? '', exchange);
    observers.onDecided(exchange.ended);
    if (reply !== null) replies.add(res, reply, exchange);
    if (res.closed) observers.onClosed(exchange.ended);
  };
}

function createRequestContext(ctx: HostContext, observers: RequestObservers): RequestContext {
  const { req, res } = ctx;
  const exchange = new RequestContext(new CallerHeaders(req));
  ctx.state.exchange = exchange;
  // 'close' follows each answer, complete or not, exactly once.
  res.on('close', () => {
    if (!res.writableFinished) exchange.signal.abort(new ClientClosed());
    if (exchange.ended !== null) observers.onClosed(exchange.ended);
  });
  return exchange;
}

/** The reply is written next. One that nobody waits for any more is none. */
function decideEnd(method: string, exchange: RequestContext): CompletedRequest {
  const { reply } = exchange;
  if (reply === null) exchange.trace.failure = 'cancelled';
  return {
    requestId: exchange.requestId,
    correlationId: exchange.correlationId,
    actor: exchange.actor,
    trace: exchange.trace,
    method,
    status: reply === null ? CLIENT_CLOSED_STATUS : reply.status,
    bytesOut: reply === null || method === 'HEAD' ? 0 : reply.body.length,
    durationMs: performance.now() - exchange.startedAt,
  };
}

/** `null` for a caller who has gone. */
function replyToError(
  { req }: HostContext,
  exchange: RequestContext,
  error: unknown,
  log: Log,
): Reply | null {
  if (error instanceof ClientClosed) {
    req.destroy();
    return null;
  }
  if (error instanceof ProviderError) exchange.trace.failure = error.failure;
  if (!(error instanceof HostError)) {
    log.error({ err: error, request_id: exchange.requestId }, 'a request failed inside the host');
  }
  const problem = error instanceof HostError ? error : internalError(error);
  return createProblemReply(problem, exchange, req.headers.accept);
}

/** Says nothing of the inside: the log has the rest, under the request's id. */
export function internalError(cause: unknown): HostError {
  return new HostError('internal_error', 'the host failed to handle the request', {
    nextActions: ['report the request_id to the operators of the host'],
    cause,
  });
}
