import type { Middleware, Next } from 'koa';
import type { HttpRouteOperation, Log } from '../contract/index.js';
import { type ErrorDetail, HostError } from '../errors.js';
import { inject, injectable } from '../injection.js';
import type { RouteMatch } from '../lib/route-table.js';
import type {
  Generation,
  GenerationSource,
  LiveModule,
  LiveRoute,
} from '../modules/live-module.js';
import type { RequestObserver } from '../observability/completed-request.js';
import {
  type Authorization,
  authorize,
  authorizeModuleCaller,
  DEFAULT_CALLERS,
} from '../operations/authorization.js';
import type { ConsoleBridge } from '../operations/console/console-bridge.js';
import { readCheckedBody } from '../operations/forward/body-policy.js';
import { callProvider } from '../operations/forward/call-provider.js';
import { enforceInput } from '../operations/forward/enforce-schemas.js';
import { createEnvelope } from '../operations/forward/envelope.js';
import {
  createResponseReader,
  type ForwardedResponse,
} from '../operations/forward/forwarded-response.js';
import { readHopByHopNames } from '../operations/forward/headers-to-provider.js';
import { holdReply, translateOverload } from '../operations/forward/overload.js';
import { assertSignedBody } from '../operations/forward/signed-body.js';
import { CREDENTIAL_HEADERS, GENERATIONS } from '../operations/injection-tokens.js';
import { enforceRateLimit } from '../operations/rate-limit.js';
import { type Handler, JSON_TYPE, Reply } from '../operations/reply.js';
import {
  type CallerRequest,
  ClientClosed,
  type ModuleTarget,
  type RequestTracing,
  readBridgePermission,
} from '../operations/request.js';
import { type Authentication, authenticate } from './authenticate-request.js';
import { readBridgeBody } from './bridge-body.js';
import type { Cors } from './cors.js';
import { discardBody } from './request/body.js';
import { findTargetProblem } from './request/explain-target.js';
import { assertHead, assertOriginForm, type HeadLimits } from './request/head-rules.js';
import { type ParsedTarget, parseTarget } from './request/target.js';
import {
  type DecidedReply,
  type HostContext,
  type HostState,
  RequestContext,
  type RequestContextOptions,
} from './request-context.js';
import { createErrorReply } from './response/error-reply.js';
import { ReplyQueue, type ReplyQueueOptions } from './response/reply-queue.js';
import { createUnknownPath } from './routes/unknown-path.js';
import { addInterruptible } from './server/interruptible-requests.js';
import type { MountedSurface } from './surfaces/mounted-surface.js';
import { callSurface, sendSurfaceResponse } from './surfaces/serve-surface.js';

export interface RequestChainOptions extends HeadLimits, ReplyQueueOptions, RequestContextOptions {
  readonly log: Log;
  readonly forward: Forward;
  readonly bridge: ConsoleBridge;
  readonly authentication: Authentication;
  /** `null`: pages of other origins may call nothing. */
  readonly cors: Cors | null;
  /** `null` where traces are off. */
  readonly tracing: RequestTracing | null;
  readonly observers: RequestObservers;
  readonly surfaces: {
    /** The surface that owns the path of a raw target. */
    find(target: string): MountedSurface | null;
  };
  /** The origin of the public URL; `null` where none is configured. */
  readonly publicOrigin: string | null;
}

/** Each is called once for every request, with the same facts. */
interface RequestObservers {
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
  const { authentication, cors, forward, bridge, tracing, observers, log } = options;
  const replies = new ReplyQueue(options);

  return async (ctx, next) => {
    ctx.respond = false; // Koa writes no response: the reply queue does.
    const request = openRequest(ctx, options);
    let reply: Reply | null = null;
    const parsed = parseTarget(request.target);
    try {
      assertHead(request, options); // 400, 403, 417, 431, 501
      const surface = parsed.kind === 'host' ? options.surfaces.find(request.target) : null;
      if (surface !== null) {
        await serveSurface(surface, request, options); // 400, 401, 404, 405, 408, 413, 429, 500, 503
        return;
      }
      const preflight = cors === null ? null : cors.answerPreflight(parsed, request);
      if (preflight !== null) {
        request.facts.isPreflight = true;
        reply = preflight;
      } else if (parsed.kind === 'host') {
        reply = await callHostRoute(ctx, next);
      } else {
        const permission = parsed.kind === 'module' ? readBridgePermission(parsed) : null;
        request.facts.isForwarded = permission === null;
        if (tracing !== null) beginSpan(ctx, tracing);
        const found = authenticate(request, authentication); // 401, 429, 503
        if (found instanceof Promise) await found;
        reply =
          permission === null || parsed.module === null
            ? await forward.execute(parsed, request)
            : await callBridge(ctx, bridge, parsed.module, permission, options.bodyTimeoutMs);
      }
    } catch (error) {
      reply = createErrorReply(error, request, log, authentication.challenges);
    }
    if (reply !== null && cors !== null) reply = cors.complete(reply, parsed, request);
    // At the end of the turn: metrics, call records and trace, then the reply. The log line follows when the
    // response closes.
    replies.add(ctx.res, request, () => finish(request, reply, observers));
  };
}

/** Reports the request. @returns what to send to a client that is still connected */
function finish<R extends DecidedReply>(
  request: RequestContext,
  decided: R | null,
  { onDecided, onClosed }: RequestObservers,
): R | null {
  const { req, res } = request;
  if (!req.complete) res.once('finish', () => discardBody(req));
  const reply = request.signal.aborted ? null : decided;
  request.held.keepOnly(reply === null ? 0 : reply.length);
  const completed = request.complete(reply);
  onDecided(completed);
  if (res.closed) onClosed(completed);
  return reply;
}

/** A target of a module's shape. */
type ForwardTarget = Exclude<ParsedTarget, { kind: 'host' }>;

/** What a request was matched with. */
interface FoundRoute {
  readonly module: LiveModule;
  readonly target: ModuleTarget;
  readonly match: RouteMatch<LiveRoute>;
}

/** The forwarded routes: the steps of a request from an authenticated caller. */
@injectable()
export class Forward implements Handler<ForwardTarget> {
  readonly #generations: GenerationSource;
  readonly #credentialHeaders: readonly string[];

  constructor(
    @inject(GENERATIONS) generations: GenerationSource,
    @inject(CREDENTIAL_HEADERS) credentialHeaders: readonly string[],
  ) {
    this.#generations = generations;
    this.#credentialHeaders = credentialHeaders;
  }

  async execute(target: ForwardTarget, request: CallerRequest): Promise<Reply> {
    const { actor, facts } = request;
    const found = findRoute(this.#generations.current, target, request); // 403, 404
    const { module, match } = found;
    const { capability, schemas, method, timeoutMs, retryPolicy } = match.value;
    const { client, descriptor } = module;
    client.hold();
    try {
      const { callers } = descriptor;
      const authorization = authorize(actor, { kind: 'capability', capability, callers }); // 403
      if (client.rates !== null) enforceRateLimit(client.rates, actor); // 429
      const hopByHop = readHopByHopNames(request); // 400
      const body = method === 'GET' ? null : await readBody(found, request); // 400, 502
      assertSignedBody(request, body); // 401
      facts.bytesIn = body?.length ?? 0;
      if (schemas !== null) enforceInput(schemas, found.target.forwardTarget, body, facts); // 400
      const response = await callProvider({
        authorization,
        module,
        request,
        route: match.value.name,
        hopByHop,
        timeoutMs,
        retryPolicy,
        operation: createOperation(found, body),
        describeCall: () => describeRoute(found),
        parseResponse: createResponseReader(module, this.#credentialHeaders, schemas, facts),
      }); // 502
      return createReply(authorization, found, response);
    } finally {
      client.release();
    }
  }
}

/** @throws HostError 403 where the module is not open to the caller, whether it exists or not; 404. */
function findRoute(
  generation: Generation,
  target: ForwardTarget,
  { actor, facts, method, target: raw }: CallerRequest,
): FoundRoute {
  const module = target.module === null ? undefined : generation.get(target.module);
  if (module && target.kind === 'module') facts.module = module.name;
  authorizeModuleCaller(actor, module?.descriptor.callers ?? DEFAULT_CALLERS);
  if (target.kind === 'unmatched') throw createNotFound(findTargetProblem(raw));
  const match = module?.routes.match(method === 'HEAD' ? 'GET' : method, target.segments);
  if (!module || !match) throw createNotFound();
  facts.route = match.value.declaredPath;
  return { module, target, match };
}

async function readBody(found: FoundRoute, request: CallerRequest): Promise<Buffer | null> {
  const { requestBytes } = found.module.descriptor.limits;
  try {
    return await readCheckedBody(found.match.value, request, requestBytes);
  } catch (error) {
    throw translateOverload(error, describeRoute(found));
  }
}

function createReply(
  authorization: Authorization,
  { target, match }: FoundRoute,
  response: ForwardedResponse,
): Reply {
  if (response.mode === 'raw') {
    return Reply.forwarded(authorization, { ...response.raw, ...response.exposed });
  }
  const pieces = createEnvelope(target, match, response.data);
  if (response.exposed === null) return Reply.ok(authorization, pieces);
  const envelope = { status: 200, pieces, contentType: JSON_TYPE };
  return Reply.forwarded(authorization, { ...envelope, ...response.exposed });
}

function openRequest(ctx: HostContext, options: RequestChainOptions): RequestContext {
  const { req, res } = ctx;
  const request = new RequestContext(req, res, options);
  ctx.state.request = request;
  addInterruptible(req, request);
  // Emitted exactly once, whether or not the response is complete.
  res.on('close', () => {
    if (!res.writableFinished) request.signal.abort(new ClientClosed());
    request.held.close();
    if (request.completed !== null) options.observers.onClosed(request.completed);
  });
  return request;
}

/** @throws HostError before anything is sent. */
async function serveSurface(
  surface: MountedSurface,
  request: RequestContext,
  options: RequestChainOptions,
): Promise<void> {
  // Surfaces cannot call each other, or themselves without end.
  if (request.inProcess !== null) throw createUnknownPath();
  const answer = await callSurface(surface, request, options);
  const head = { status: answer.response.status, length: 0 };
  if (finish(request, head, options.observers) !== null) {
    sendSurfaceResponse(surface, request, answer, options);
    return;
  }
  answer.abort(request.signal.reason);
  surface.discard(answer.response);
}

async function callHostRoute(ctx: HostContext, next: Next): Promise<Reply> {
  const { request } = ctx.state;
  assertOriginForm(request.target); // 404
  await next(); // 401, 403, 404, 405
  const { reply } = ctx.state;
  const isReserved = request.authenticated === null || ctx.path === '/metrics';
  holdReply(request, reply.length, { isReserved }); // 503
  return reply;
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
  const { request } = ctx.state;
  try {
    const body = await readBridgeBody(ctx, bodyTimeoutMs);
    const reply = await bridge.execute({ module, permission, body }, request);
    holdReply(request, reply.length);
    return reply;
  } catch (error) {
    throw translateOverload(error, [{ field: 'module', reason: module }]);
  }
}

function beginSpan(ctx: HostContext, tracing: RequestTracing): void {
  const { headers, requestId, method, facts } = ctx.state.request;
  facts.span = tracing.begin({
    method,
    scheme: ctx.secure ? 'https' : 'http',
    hostRoute: facts.isForwarded ? null : '/modules/{module}/http/console-bridge/{permission}',
    headers,
    requestId,
    facts,
  });
  facts.traceId = facts.span.traceId;
}

function createOperation(
  { target: { forwardTarget, providerPath }, match: { value, params } }: FoundRoute,
  body: Buffer | null,
): HttpRouteOperation {
  const { method, declaredPath } = value;
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
function describeRoute({ module, target, match: { value } }: FoundRoute): ErrorDetail[] {
  return [
    { field: 'module', reason: module.name },
    { field: 'method', reason: value.method },
    { field: 'declared_path', reason: value.declaredPath },
    { field: 'provider_path', reason: target.providerPath },
  ];
}

/** @param problem of a path that can match no route; it says nothing about modules */
function createNotFound(problem: { readonly reason: string } | null = null): HostError {
  return new HostError('not_found', 'no configured service-provided route matches', {
    errors: problem === null ? [] : [{ field: 'path', reason: problem.reason }],
    nextActions: ['check the method and the path against the routes that the module declares'],
  });
}
