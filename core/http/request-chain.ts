import type { Middleware } from 'koa';
import type { Log } from '../contract/index.js';
import type { RequestObserver } from '../observability/completed-request.js';
import type { ConsoleBridge } from '../operations/console/console-bridge.js';
import { createUnexposed } from '../operations/exposed/named-operation.js';
import type { Forward } from '../operations/forward/forward.js';
import { reserveReplyMemory } from '../operations/forward/overload.js';
import { Reply, type ReplyStream, type ReplyUpgrade } from '../operations/reply.js';
import { ClientClosed, type RequestTracing, readBridgePermission } from '../operations/request.js';
import type { StepName } from '../steps.js';
import { type Authentication, withoutBasic } from './authenticate-request.js';
import type { Cors } from './cors.js';
import { readHostBody } from './host-body.js';
import { discardBody } from './request/body.js';
import { assertHead, assertOriginForm, type HeadLimits } from './request/head-rules.js';
import {
  type DecidedReply,
  type HostContext,
  type HostState,
  RequestContext,
  type RequestContextOptions,
} from './request-context.js';
import { createErrorReply } from './response/error-reply.js';
import {
  closeWithHost,
  ReplyQueue,
  type ReplyQueueOptions,
  setSendTimeout,
} from './response/reply-queue.js';
import { sendStream } from './response/send-stream.js';
import { sendUpgrade } from './response/send-upgrade.js';
import { createUnknownPath } from './routes/unknown-path.js';
import { addInterruptible } from './server/interruptible-requests.js';
import type { MountedSurface } from './surfaces/mounted-surface.js';
import { addMetadataUrl } from './surfaces/protected-resource.js';
import { callSurface, sendSurfaceResponse } from './surfaces/serve-surface.js';

export interface RequestChainOptions extends HeadLimits, ReplyQueueOptions, RequestContextOptions {
  readonly log: Log;
  readonly forward: Forward;
  readonly bridge: ConsoleBridge;
  readonly authentication: Authentication;
  readonly cors: Cors;
  /** `null` without traces. */
  readonly tracing: RequestTracing | null;
  /** `isCuttingOff`: the host closes connections whose requests have not ended. */
  readonly lifecycle: ReplyQueueOptions['lifecycle'] & { readonly isCuttingOff: boolean };
  readonly observers: RequestObservers;
  readonly surfaces: {
    /** Returns the surface that owns the path of a raw target. */
    find(target: string): MountedSurface | null;
    findProtectedPrefix(): string | null;
  };
  /** The origin of the public URL; `null` without one. */
  readonly publicOrigin: string | null;
}

/** Observers that are called once for every request, with the same facts. */
export interface RequestObservers {
  /** Runs when the head of a request has arrived. `onClosed` follows. */
  readonly onOpened: () => void;
  /** Runs before the response is sent, so a scrape made after receiving it already includes the request. */
  readonly onDecided: RequestObserver;
  /** Runs when the response is complete, or the client has closed the connection. */
  readonly onClosed: RequestObserver;
}

/**
 * Lists the steps of every request in order, as Koa middleware. A step rejects a request by
 * throwing; the numbers are the resulting statuses.
 */
export function createRequestChain(options: RequestChainOptions): Middleware<HostState>[] {
  const forSurfaces = { ...options, authentication: withoutBasic(options.authentication) };
  return [
    respond(options, forSurfaces),
    checkHead(options), // 400, 403, 417, 431, 501
    answerPreflights(options.cors),
    serveSurfaces(forSurfaces), // 400, 401, 404, 405, 408, 413, 429, 500, 503
    callModules(options), // those of the steps of `Forward` and `ConsoleBridge`
    limitHostRoutes, // 401, 403, 404, 405, 503
  ];
}

/**
 * The outermost middleware: it opens the request, and sends the reply, or the error of a later
 * step.
 */
function respond(
  options: RequestChainOptions,
  forSurfaces: RequestChainOptions,
): Middleware<HostState> {
  const { observers, log } = options;
  const replies = new ReplyQueue(options);
  return async (ctx, next) => {
    const request = openRequest(ctx, options);
    let reply: Reply | null;
    try {
      await next();
      if (ctx.state.isSent === true) return;
      reply = ctx.state.reply;
    } catch (error) {
      const isSurface = request.facts.kind === 'surface';
      const { challenges } = (isSurface ? forSurfaces : options).authentication;
      const advertised = isSurface ? addMetadataUrl(challenges, request, options) : challenges;
      reply = createErrorReply(error, request, log, advertised);
    }
    if (reply !== null && request.replyHeaders.length > 0) {
      reply = Reply.withHeaders(reply, [...reply.headers, ...request.replyHeaders]);
    }
    if (reply !== null && reply.upgrade !== null) {
      await openConnection(reply, reply.upgrade, request, options);
      return;
    }
    if (reply !== null) reply = request.completeReply(reply);
    if (reply?.stream == null) {
      addReply(reply, request, replies, observers);
      return;
    }
    // Not awaited: this function, and Koa's context, would be kept as long as the stream.
    sendStreamed(reply, reply.stream, request, replies, options).catch((error: Error) => {
      log.error({ err: error, request_id: request.requestId }, 'response could not be written');
      request.res.destroy();
    });
  };
}

/**
 * Runs at the end of the turn: metrics, call records and trace, then the reply. The log line is
 * written when the response closes.
 */
function addReply(
  reply: Reply | null,
  request: RequestContext,
  replies: ReplyQueue,
  observers: RequestObservers,
): void {
  replies.add(request.res, request, () => {
    request.keepReply(reply?.length ?? 0);
    return finish(request, reply, observers);
  });
}

/** Opens a WebSocket. The call ends with its 101, and the request with the connection. */
async function openConnection(
  reply: Reply,
  upgrade: ReplyUpgrade,
  request: RequestContext,
  { observers }: RequestChainOptions,
): Promise<void> {
  if (request.signal.aborted) {
    upgrade.abandon();
    finish(request, null, observers);
    return;
  }
  request.markHead();
  const length = await sendUpgrade(reply, upgrade, request);
  finish(request, { status: reply.status, length }, observers);
}

/**
 * Sends the end last: a failure of the body is recorded first, and the client sees an incomplete
 * response, or a Problem if the head was not sent.
 */
async function sendStreamed(
  reply: Reply,
  stream: ReplyStream,
  request: RequestContext,
  replies: ReplyQueue,
  { lifecycle, log, observers, authentication, sendTimeoutMs }: RequestChainOptions,
): Promise<void> {
  const { res } = request;
  if (stream.isEvents) request.markHead();
  try {
    await sendStream(reply, stream, request, lifecycle.isClosing || request.isLast);
  } catch (error) {
    const problem = createErrorReply(error, request, log, authentication.challenges);
    if (problem !== null && !res.headersSent) {
      addReply(request.completeReply(problem), request, replies, observers);
      return;
    }
    finish(request, problem && { status: problem.status, length: stream.bytes }, observers);
    const last = problem && stream.writeProblem(problem.pieces);
    if (last === null || res.destroyed) res.destroy();
    else endStream(res, sendTimeoutMs, lifecycle, last);
    return;
  }
  finish(request, { status: reply.status, length: stream.bytes }, observers);
  if (stream.isCut) res.destroy();
  else endStream(res, sendTimeoutMs, lifecycle);
}

function endStream(
  res: HostContext['res'],
  sendTimeoutMs: number,
  lifecycle: RequestChainOptions['lifecycle'],
  last?: Uint8Array,
): void {
  closeWithHost(res, lifecycle);
  res.end(last);
  if (res.socket !== null && res.writableLength > 0) {
    setSendTimeout(res, res.socket, sendTimeoutMs);
  }
}

/** Records the current step, for the record of a request that fails. */
function enter({ request }: HostState, step: StepName): RequestContext {
  request.facts.step = step;
  return request;
}

function checkHead(limits: HeadLimits): Middleware<HostState> {
  return (ctx, next) => {
    assertHead(enter(ctx.state, 'parser'), limits);
    return next();
  };
}

function serveSurfaces(options: RequestChainOptions): Middleware<HostState> {
  return (ctx, next) => {
    const request = enter(ctx.state, 'host');
    const { kind } = request.parsed;
    const surface = kind === 'host' ? options.surfaces.find(request.target) : null;
    return surface === null ? next() : serveSurface(surface, ctx.state, options);
  };
}

function answerPreflights(cors: Cors): Middleware<HostState> {
  return (ctx, next) => {
    const request = enter(ctx.state, 'origin');
    const preflight = cors.answerPreflight(request);
    if (preflight === null) return next();
    request.facts.kind = 'preflight';
    ctx.state.reply = preflight;
  };
}

/**
 * Handles forwarded routes and the console bridge. The router would decode the path and match it
 * again; here the parsed target is matched, authorized and forwarded.
 */
function callModules(options: RequestChainOptions): Middleware<HostState> {
  const { forward, bridge, tracing, bodyTimeoutMs } = options;
  return async (ctx, next) => {
    const { parsed, facts } = ctx.state.request;
    if (parsed.kind === 'host') return next();
    const permission = parsed.kind === 'module' ? readBridgePermission(parsed) : null;
    if (permission === null) facts.kind = 'forwarded';
    if (tracing !== null) beginSpan(ctx, tracing);
    // No operation for agents is on the bridge.
    if (permission === null || parsed.module === null || ctx.state.request.operation !== null) {
      ctx.state.reply = await forward.execute(parsed, ctx.state.request);
      return;
    }
    const { module } = parsed;
    const readBody = () => readHostBody(ctx, bodyTimeoutMs);
    ctx.state.reply = await bridge.execute({ module, permission, readBody }, ctx.state.request);
  };
}

/** They use the reserve of the memory budget, because operators need them beyond it. */
const RESERVED_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/** Runs before the host's own routes. */
const limitHostRoutes: Middleware<HostState> = async (ctx, next) => {
  const request = enter(ctx.state, 'host');
  assertOriginForm(request.target);
  if (request.operation !== null && !isOperationCall(request)) throw createUnexposed();
  await next();
  const isReserved = RESERVED_PATHS.has(ctx.path);
  if (!isReserved) request.identifyClient();
  reserveReplyMemory(request, ctx.state.reply.length, { isReserved });
};

/** Whether a request of the host's own routes can call an operation. */
function isOperationCall({ method, target }: RequestContext): boolean {
  return method === 'POST' && target === '/operations';
}

/** Reports the request. @returns the reply for a client that is still connected */
function finish<R extends DecidedReply>(
  request: RequestContext,
  decided: R | null,
  { onDecided, onClosed }: RequestObservers,
): R | null {
  const { req, res } = request;
  if (!req.complete) res.once('finish', () => discardBody(req));
  const reply = request.signal.aborted ? null : decided;
  const completed = request.complete(reply);
  onDecided(completed);
  if (res.closed) onClosed(completed);
  return reply;
}

/** The `failure_detail` of a request that did not end within the drain time. */
const CUT_OFF = 'cut off: the host stopped';

function openRequest(ctx: HostContext, options: RequestChainOptions): RequestContext {
  const { req, res } = ctx;
  const request = new RequestContext(req, res, options);
  ctx.state.request = request;
  options.observers.onOpened();
  // The parser may still reject the rest of a body.
  if (req.headers['content-length'] ?? req.headers['transfer-encoding']) {
    addInterruptible(req, request);
  }
  // Emitted exactly once, whether or not the response is complete.
  res.on('close', () => {
    if (!res.writableFinished) {
      if (options.lifecycle.isCuttingOff) request.facts.failure_detail = CUT_OFF;
      request.signal.abort(new ClientClosed());
    }
    request.held.close();
    if (request.completed !== null) options.observers.onClosed(request.completed);
  });
  return request;
}

/** @throws HostError before anything is sent. */
async function serveSurface(
  surface: MountedSurface,
  state: HostState,
  options: RequestChainOptions,
): Promise<void> {
  const { request } = state;
  // Surfaces cannot call surfaces, which could recurse without end.
  if (request.inProcess !== null) throw createUnknownPath();
  const answer = await callSurface(surface, request, options);
  state.isSent = true;
  request.keepReply(0);
  const head = { status: answer.response.status, length: 0 };
  if (finish(request, head, options.observers) !== null) {
    sendSurfaceResponse(surface, request, answer, options);
    return;
  }
  answer.abort(request.signal.reason);
  surface.discard(answer.response);
}

function beginSpan(ctx: HostContext, tracing: RequestTracing): void {
  const { headers, requestId, method, facts } = ctx.state.request;
  facts.span = tracing.begin({
    method,
    scheme: ctx.secure ? 'https' : 'http',
    hostRoute:
      facts.kind === 'forwarded' ? null : '/modules/{module}/http/console-bridge/{permission}',
    headers,
    requestId,
    facts,
  });
  facts.trace_id = facts.span.traceId;
}
