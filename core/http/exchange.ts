import type { IncomingMessage } from 'node:http';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Actor, Log } from '../contract/index.js';
import { HostError } from '../errors.js';
import type { EndedRequest, RequestObserver } from '../observability/ended-request.js';
import { CallerGone } from '../operations/caller-gone.js';
import { ProviderError } from '../operations/provider-error.js';
import { createRequestTrace, type RequestTrace } from '../operations/request-trace.js';
import { type CallerHeaders, readCallerHeaders } from './caller-headers.js';
import { type RequestIds, readIds } from './ids.js';
import { writeProblem } from './problem.js';

/** One request and its answer, from the parsed head to the last byte: `ctx.state.exchange`. */
export interface Exchange extends RequestIds {
  readonly headers: CallerHeaders;
  readonly startedAt: number;
  readonly trace: RequestTrace;
  /** Aborted when the caller hangs up before the answer is complete. */
  readonly signal: AbortSignal;
  actor: Actor | null;
}

export interface HostState {
  exchange: Exchange;
}

export type HostContext = ParameterizedContext<HostState>;

/** Each is told of every request once, and of the same end. */
export interface ExchangeObservers {
  /** Called when the answer is decided, before its last byte leaves: who has it finds it counted. */
  readonly onDecided: RequestObserver;
  /** Called when the answer is out, or the caller has gone: nobody waits for what this does. */
  readonly onClosed: RequestObserver;
}

const CALLER_GONE_STATUS = 499;

/** The outermost middleware: gives the request its ids, turns every error into a Problem, and reports. */
export function createExchangeMiddleware(
  log: Log,
  { onDecided, onClosed }: ExchangeObservers,
): Middleware<HostState> {
  return async (ctx, next) => {
    const exchange = beginExchange(ctx);
    try {
      await next();
    } catch (error) {
      answerError(ctx, exchange, error, log);
    }
    const ended = decideEnd(ctx, exchange);
    onDecided(ended);
    if (ctx.res.closed) onClosed(ended);
    else ctx.res.once('close', () => onClosed(ended));
  };
}

function beginExchange(ctx: HostContext): Exchange {
  const controller = new AbortController();
  const headers = readCallerHeaders(ctx.req);
  const exchange: Exchange = {
    ...readIds(headers),
    headers,
    startedAt: performance.now(),
    trace: createRequestTrace(),
    signal: controller.signal,
    actor: null,
  };
  ctx.state.exchange = exchange;
  ctx.res.setHeader('x-request-id', exchange.requestId);
  ctx.res.setHeader('x-correlation-id', exchange.correlationId);
  ctx.res.setHeader('x-content-type-options', 'nosniff');
  ctx.res.setHeader('cache-control', 'no-store');
  // 'close' follows each answer, complete or not, exactly once.
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) controller.abort();
  });
  return exchange;
}

/** Koa writes the answer next. One that nobody waits for any more is none. */
function decideEnd(ctx: HostContext, exchange: Exchange): EndedRequest {
  const method = ctx.req.method ?? '';
  const isGone = ctx.respond === false || exchange.signal.aborted;
  if (isGone) exchange.trace.failure = 'cancelled';
  const length = Number(ctx.res.getHeader('content-length') ?? 0);
  return {
    requestId: exchange.requestId,
    correlationId: exchange.correlationId,
    actor: exchange.actor,
    trace: exchange.trace,
    method,
    status: isGone ? CALLER_GONE_STATUS : ctx.status,
    bytesOut: isGone || method === 'HEAD' ? 0 : length,
    durationMs: performance.now() - exchange.startedAt,
  };
}

function answerError(ctx: HostContext, exchange: Exchange, error: unknown, log: Log): void {
  if (error instanceof CallerGone) {
    ctx.respond = false;
    ctx.req.destroy();
    return;
  }
  if (error instanceof ProviderError) exchange.trace.failure = error.failure;
  if (!(error instanceof HostError)) {
    log.error({ err: error, request_id: exchange.requestId }, 'a request failed inside the host');
  }
  writeProblem(ctx, exchange, error instanceof HostError ? error : internalError(error));
}

/** Says nothing of the inside: the log has the rest, under the request's id. */
export function internalError(cause: unknown): HostError {
  return new HostError('internal_error', 'the host failed to handle the request', {
    nextActions: ['report the request_id to the operators of the host'],
    cause,
  });
}

// A caller whose body was refused may still be sending it. It is read and thrown away, so that the
// answer is not lost in a reset, but not without end.
const MAX_LEFTOVER_BYTES = 16 * 1024 * 1024;
const MAX_LEFTOVER_MS = 5000;

/** Bounds what is read of a body that nobody wants after the answer is out. */
export const boundLeftoverBody: Middleware<HostState> = async (ctx, next) => {
  try {
    await next();
  } finally {
    if (!ctx.req.complete) ctx.res.once('finish', () => discardLeftover(ctx.req));
  }
};

function discardLeftover(request: IncomingMessage): void {
  if (request.complete) return;
  let size = 0;
  const cut = () => request.destroy();
  const timer = setTimeout(cut, MAX_LEFTOVER_MS);
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_LEFTOVER_BYTES) cut();
  });
  request.once('close', () => clearTimeout(timer));
}
