import type { Middleware, Next } from 'koa';
import type { HttpRouteOperation, Log } from '../contract/index.js';
import { type ErrorDetail, HostError } from '../errors.js';
import { inject, injectable } from '../injection.js';
import type { RouteMatch } from '../lib/route-table.js';
import type { GenerationSource, LiveModule, LiveRoute } from '../modules/live-module.js';
import type { RequestObserver } from '../observability/completed-request.js';
import { authorize, authorizeModuleCaller } from '../operations/authorization.js';
import type { ConsoleBridge } from '../operations/console/console-bridge.js';
import { readCheckedBody } from '../operations/forward/body-policy.js';
import { callProvider } from '../operations/forward/call-provider.js';
import { createEnvelope } from '../operations/forward/envelope.js';
import { readHopByHopNames } from '../operations/forward/headers-to-provider.js';
import { readResponseData } from '../operations/forward/provider-response.js';
import { GENERATIONS } from '../operations/injection-tokens.js';
import { enforceRateLimit } from '../operations/rate-limit.js';
import { type Handler, Reply } from '../operations/reply.js';
import {
  type CallerRequest,
  ClientClosed,
  type ModuleTarget,
  type RequestTracing,
} from '../operations/request.js';
import { type Authentication, authenticate } from './authenticate-request.js';
import { readBridgeBody } from './bridge-body.js';
import { discardBody } from './request/body.js';
import { assertOriginForm, assertProtocol, type ProtocolLimits } from './request/protocol.js';
import { parseTarget } from './request/target.js';
import { type HostContext, type HostState, RequestContext } from './request-context.js';
import { createErrorReply } from './response/error-reply.js';
import { ReplyQueue, type ReplyQueueOptions } from './response/reply-queue.js';

export interface RequestChainOptions extends ProtocolLimits, ReplyQueueOptions {
  readonly log: Log;
  readonly forward: Forward;
  readonly bridge: ConsoleBridge;
  readonly authentication: Authentication;
  /** How long the host waits for the next part of a body. Milliseconds. */
  readonly bodyTimeoutMs: number;
  /** `null` where traces are off. */
  readonly tracing: RequestTracing | null;
  readonly observers: RequestObservers;
}

/** Each is called once for every request, with the same facts. */
export interface RequestObservers {
  /** Runs before the response is sent, so a scrape made after receiving it already includes the request. */
  readonly onDecided: RequestObserver;
  /** Runs when the response has been sent, or the client has closed the connection. */
  readonly onClosed: RequestObserver;
}

/**
 * Every request, step by step: the outermost middleware. A step that fails throws; the numbers are the
 * statuses that the client gets then.
 */
export function createRequestChain(options: RequestChainOptions): Middleware<HostState> {
  const { authentication, forward, bridge, tracing, observers, log } = options;
  const replies = new ReplyQueue(options);

  return async (ctx, next) => {
    ctx.respond = false; // Koa writes no response: the reply queue does.
    const request = openRequest(ctx, options);
    let reply: Reply | null = null;
    try {
      assertProtocol(request, options); // 400, 403, 417, 431, 501
      const parsed = parseTarget(ctx.req.url ?? '');
      if (parsed.kind === 'host') {
        reply = await callHostRoute(ctx, next);
      } else {
        const target = parsed.kind === 'module' ? parsed : null;
        const permission = target && readBridgePermission(target);
        request.trace.isForwarded = permission === null;
        if (tracing !== null) beginSpan(ctx, tracing);
        const found = authenticate(request, authentication); // 401, 429, 503
        if (found instanceof Promise) await found;
        reply =
          target !== null && permission !== null
            ? await callBridge(ctx, bridge, target.module, permission, options.bodyTimeoutMs)
            : await forward.execute(target, request);
      }
    } catch (error) {
      reply = createErrorReply(error, request, log);
    }
    if (!ctx.req.complete) ctx.res.once('finish', () => discardBody(ctx.req));
    // At the end of the turn: metrics, call records and trace, then the reply. The log line follows when the
    // response closes.
    replies.add(ctx.res, request, () => finish(request, reply, observers));
  };
}

/** Reports the request. @returns what to send to a client that is still connected */
function finish(
  request: RequestContext,
  decided: Reply | null,
  { onDecided, onClosed }: RequestObservers,
): Reply | null {
  const reply = request.signal.aborted ? null : decided;
  const completed = request.complete(reply);
  onDecided(completed);
  if (request.res.closed) onClosed(completed);
  return reply;
}

/** The forwarded routes: the steps of a request from an authenticated caller. */
@injectable()
export class Forward implements Handler<ModuleTarget | null> {
  readonly #generations: GenerationSource;

  constructor(@inject(GENERATIONS) generations: GenerationSource) {
    this.#generations = generations;
  }

  /** @param target `null` where the path can match no route */
  async execute(target: ModuleTarget | null, request: CallerRequest): Promise<Reply> {
    const { actor } = request;
    authorizeModuleCaller(actor); // 403
    const found = target && this.#findRoute(target, request);
    if (!target || !found) throw createNotFound(); // 404
    const { module, match } = found;
    const route = match.value;
    module.client.hold();
    try {
      const { capability } = route;
      const authorization = authorize(actor, { kind: 'capability', capability }); // 403
      enforceRateLimit(module, actor); // 429
      const hopByHop = readHopByHopNames(request); // 400
      const { requestBytes } = module.descriptor.limits;
      const body =
        route.method === 'GET' ? null : await readCheckedBody(route.method, request, requestBytes); // 400
      request.trace.bytesIn = body?.length ?? 0;
      const data = await callProvider({
        authorization,
        module,
        operation: createOperation(target, match, body),
        request,
        hopByHop,
        hasClientBody: body !== null,
        timeoutMs: route.timeoutMs,
        retryPolicy: retryPolicyOf(route),
        describeError: describeRoute,
        parseResponse: readResponseData,
      }); // 502
      return Reply.ok(authorization, createEnvelope(module.name, target, match, data)); // 200
    } finally {
      module.client.release();
    }
  }

  #findRoute(
    target: ModuleTarget,
    request: CallerRequest,
  ): { module: LiveModule; match: RouteMatch<LiveRoute> } | null {
    const module = this.#generations.current.get(target.module);
    if (module === undefined) return null;
    request.trace.module = module.name;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const match = module.routes.match(method, target.segments, target.providerPath);
    if (match === null) return null;
    request.trace.route = match.value.declaredPath;
    return { module, match };
  }
}

function openRequest(
  ctx: HostContext,
  { bodyTimeoutMs, observers }: RequestChainOptions,
): RequestContext {
  const { req, res } = ctx;
  const request = new RequestContext(req, res, bodyTimeoutMs);
  ctx.state.request = request;
  // Emitted exactly once, whether or not the response is complete.
  res.on('close', () => {
    if (!res.writableFinished) request.signal.abort(new ClientClosed());
    if (request.completed !== null) observers.onClosed(request.completed);
  });
  return request;
}

async function callHostRoute(ctx: HostContext, next: Next): Promise<Reply> {
  assertOriginForm(ctx.req.url ?? ''); // 404
  await next(); // 401, 403, 404, 405
  return ctx.state.reply;
}

/** The permission of a target of the console bridge; `null` for any other. */
function readBridgePermission({ segments }: ModuleTarget): string | null {
  return segments.length === 2 && segments[0] === 'console-bridge' ? (segments[1] ?? null) : null;
}

async function callBridge(
  ctx: HostContext,
  bridge: ConsoleBridge,
  module: string,
  permission: string,
  bodyTimeoutMs: number,
): Promise<Reply> {
  if (ctx.req.method !== 'POST') {
    throw new HostError('not_found', 'the console bridge takes POST alone', {
      nextActions: ['send a POST'],
    });
  }
  const body = await readBridgeBody(ctx, bodyTimeoutMs);
  return bridge.execute({ module, permission, body }, ctx.state.request);
}

function beginSpan(ctx: HostContext, tracing: RequestTracing): void {
  const { headers, requestId, method, trace } = ctx.state.request;
  trace.span = tracing.begin({
    method,
    scheme: ctx.secure ? 'https' : 'http',
    hostRoute: trace.isForwarded ? null : '/modules/{module}/http/console-bridge/{permission}',
    headers,
    requestId,
    trace,
  });
  trace.traceId = trace.span.traceId;
}

function createOperation(
  { forwardTarget, providerPath }: ModuleTarget,
  { value: { method, declaredPath }, params }: RouteMatch<LiveRoute>,
  body: Buffer | null,
): HttpRouteOperation {
  return {
    kind: 'http_route',
    method,
    declaredPath,
    target: forwardTarget,
    providerPath,
    pathParams: params,
    body,
  };
}

/** The details of the call in a 502. */
function describeRoute({ name }: LiveModule, operation: HttpRouteOperation): ErrorDetail[] {
  return [
    { field: 'module', reason: name },
    { field: 'method', reason: operation.method },
    { field: 'declared_path', reason: operation.declaredPath },
    { field: 'provider_path', reason: operation.providerPath },
  ];
}

function retryPolicyOf({ method, idempotency }: LiveRoute): 'always' | 'with_key' | 'never' {
  if (method === 'GET' || idempotency === 'idempotent') return 'always';
  return idempotency === 'requires_key' ? 'with_key' : 'never';
}

function createNotFound(): HostError {
  return new HostError('not_found', 'no configured service-provided route matches', {
    nextActions: ['check the method and the path against the routes that the module declares'],
  });
}
