import type { ServerResponse } from 'node:http';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Actor, Log } from '../contract/index.js';
import { HostError } from '../errors.js';
import { AbortSource } from '../lib/abort-source.js';
import type { EndedRequest, RequestObserver } from '../observability/ended-request.js';
import { CallerGone } from '../operations/caller-gone.js';
import type { Answer } from '../operations/operation.js';
import { ProviderError } from '../operations/provider-error.js';
import { createRequestTrace, type RequestTrace } from '../operations/request-trace.js';
import { CallerHeaders } from './caller-headers.js';
import { type RequestIds, readCorrelationId, readRequestId } from './ids.js';
import { discardLeftover } from './leftover-body.js';
import { writeProblem } from './problem.js';

/** One request and its answer, from the parsed head to the last byte: `ctx.state.exchange`. */
export class Exchange implements RequestIds {
  readonly headers: CallerHeaders;
  readonly requestId: string;
  readonly correlationId: string;
  readonly startedAt = performance.now();
  readonly trace: RequestTrace = createRequestTrace();
  /** Aborted when the caller hangs up before the answer is complete. */
  readonly signal = new AbortSource();
  actor: Actor | null = null;
  /** Of a 200, in JSON; `null` where Koa writes the answer. */
  answer: Answer | null = null;
  /** `null` until the answer is decided. */
  ended: EndedRequest | null = null;

  constructor(headers: CallerHeaders) {
    this.headers = headers;
    this.requestId = readRequestId(headers);
    this.correlationId = readCorrelationId(headers);
  }
}

export interface HostState {
  exchange: Exchange;
}

export type HostContext = ParameterizedContext<HostState>;

export interface ExchangeOptions {
  readonly log: Log;
  readonly observers: ExchangeObservers;
  /**
   * Whether connections are to be closed. Asked when the answer is ready: a request in flight when the drain
   * began closes its connection too.
   */
  readonly isClosing: () => boolean;
}

/** Each is told of every request once, and of the same end. */
export interface ExchangeObservers {
  /** Called when the answer is decided, before its last byte leaves: who has it finds it counted. */
  readonly onDecided: RequestObserver;
  /** Called when the answer is out, or the caller has gone: nobody waits for what this does. */
  readonly onClosed: RequestObserver;
}

const COMMON_HEADERS = ['x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
const OK_STATUS = 200;
const CALLER_GONE_STATUS = 499;
/** Up to here to copy the pieces of a body costs less than to write them one by one. */
const JOINED_BYTES = 16_384;

/** The outermost middleware: gives the request its ids, turns every error into a Problem, and reports. */
export function createExchangeMiddleware(options: ExchangeOptions): Middleware<HostState> {
  const { log, observers, isClosing } = options;
  return async (ctx, next) => {
    const exchange = beginExchange(ctx, observers);
    try {
      await next();
    } catch (error) {
      answerError(ctx, exchange, error, log);
    }
    const { req, res } = ctx;
    if (!req.complete) res.once('finish', () => discardLeftover(req));
    exchange.ended = decideEnd(ctx, exchange);
    observers.onDecided(exchange.ended);
    writeAnswer(ctx, exchange, isClosing());
    if (res.closed) observers.onClosed(exchange.ended);
  };
}

function beginExchange(ctx: HostContext, observers: ExchangeObservers): Exchange {
  const { req, res } = ctx;
  const exchange = new Exchange(new CallerHeaders(req));
  ctx.state.exchange = exchange;
  // 'close' follows each answer, complete or not, exactly once.
  res.on('close', () => {
    if (!res.writableFinished) exchange.signal.abort(new CallerGone());
    if (exchange.ended !== null) observers.onClosed(exchange.ended);
  });
  return exchange;
}

/** The answer is written next. One that nobody waits for any more is none. */
function decideEnd(ctx: HostContext, exchange: Exchange): EndedRequest {
  const method = ctx.req.method ?? '';
  const isGone = ctx.respond === false || exchange.signal.aborted;
  if (isGone) exchange.trace.failure = 'cancelled';
  const { answer } = exchange;
  const status = answer === null ? ctx.res.statusCode : OK_STATUS;
  const length = answer?.length ?? Number(ctx.res.getHeader('content-length') ?? 0);
  return {
    requestId: exchange.requestId,
    correlationId: exchange.correlationId,
    actor: exchange.actor,
    trace: exchange.trace,
    method,
    status: isGone ? CALLER_GONE_STATUS : status,
    bytesOut: isGone || method === 'HEAD' ? 0 : length,
    durationMs: performance.now() - exchange.startedAt,
  };
}

/**
 * The answer of an operation is written here, with its head in one piece: to set one header after the
 * other costs 5 µs more. What a route of the host has given to Koa is completed, and written by Koa.
 */
function writeAnswer(ctx: HostContext, exchange: Exchange, isLast: boolean): void {
  const { req, res, respond } = ctx;
  if (respond === false || exchange.signal.aborted) return;
  const { answer, requestId, correlationId } = exchange;
  const head = ['x-request-id', requestId, 'x-correlation-id', correlationId, ...COMMON_HEADERS];
  if (isLast) head.push('connection', 'close');
  if (answer === null) {
    for (let at = 0; at < head.length; at += 2) res.setHeader(head[at] ?? '', head[at + 1] ?? '');
    return;
  }
  ctx.respond = false;
  head.push('content-type', 'application/json', 'content-length', String(answer.length));
  res.writeHead(OK_STATUS, head);
  if (req.method === 'HEAD') res.end();
  else writeBody(res, answer);
}

function writeBody(res: ServerResponse, { pieces, length }: Answer): void {
  if (length <= JOINED_BYTES) {
    res.end(Buffer.concat(pieces, length));
    return;
  }
  for (const piece of pieces) res.write(piece);
  res.end();
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
