import Koa, { type Middleware } from 'koa';
import { HostError } from '../errors.js';
import { isLoopbackHostHeader } from '../lib/loopback.js';
import type { ConsoleBridge } from '../operations/console/console-bridge.js';
import type { Forward } from '../operations/forward/forward.js';
import type { Answer } from '../operations/handler.js';
import type { CallerRequest, RequestTracing } from '../operations/request.js';
import { authenticate } from './authenticate.js';
import { createBodyTimeout } from './body-timeout.js';
import { readBridgeBody } from './bridge-body.js';
import { createCallerRequest } from './create-request.js';
import { assertFraming, assertHeaderCount } from './request/headers.js';
import { type ModuleTarget, parseTarget } from './request/target.js';
import {
  type ContextOptions,
  createContextMiddleware,
  type HostContext,
  type HostState,
} from './request-context.js';
import { createReply } from './response/reply.js';
import { createHostRoutes, type HostRoutesOptions } from './routes/host-routes.js';

/** As spans name it; contract 4. */
const BRIDGE_ROUTE = '/modules/{module}/http/console-bridge/{permission}';

export interface AppOptions extends HostRoutesOptions, ContextOptions {
  readonly forward: Forward;
  readonly bridge: ConsoleBridge;
  /** With dev tokens on: a page that rebinds its name must get nowhere (contract 3). */
  readonly loopbackOnly: boolean;
  /** How long a body that is wanted may stand still. Milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Header lines of a request. */
  readonly maxHeaders: number;
  /** `null` where traces are off. */
  readonly tracing: RequestTracing | null;
}

/**
 * Koa but for its writing of answers, which the outermost middleware does: Koa would make seven closures and
 * listen for the end of each response to find out what the exchange knows.
 */
class HostApp extends Koa<HostState> {
  handleRequest(ctx: HostContext, run: (ctx: HostContext) => Promise<void>): Promise<void> {
    return run(ctx).catch((error) => ctx.onerror(error));
  }
}

/** The Koa application: ids, Problems, protocol checks, then modules, then the host's own routes. */
export function createApp(options: AppOptions): Koa<HostState> {
  const app = new HostApp();
  app.on('error', (error) => options.log.error({ err: error }, 'koa failed to answer'));
  app.use(createContextMiddleware(options));
  app.use(createProtocolChecks(options));
  app.use(createBodyTimeout(options.bodyTimeoutMs));
  app.use(createModuleDispatch(options));
  for (const middleware of createHostRoutes(options)) app.use(middleware);
  return app;
}

function createProtocolChecks(options: AppOptions): Middleware<HostState> {
  return (ctx, next) => {
    const { headers } = ctx.state.exchange;
    assertFraming(ctx.req, headers);
    assertHeaderCount(ctx.req, options.maxHeaders);
    if (options.loopbackOnly && !isLoopbackHostHeader(headers.get('host'))) {
      throw new HostError(
        'forbidden',
        'with development tokens on, only loopback hosts are served',
        {
          errors: [{ field: 'host', reason: 'not a loopback name' }],
          nextActions: ['call the host as localhost'],
        },
      );
    }
    assertKnownExpectation(headers.get('expect'));
    return next();
  };
}

function assertKnownExpectation(expect: string | undefined): void {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  throw new HostError('validation_failed', 'the only expectation understood is 100-continue', {
    status: 417,
    errors: [{ field: 'expect', reason: 'not 100-continue' }],
    headers: { connection: 'close' },
  });
}

/** Its authority would outrank the host header (RFC 9112 3.2.2), which is what was judged. */
function assertOriginForm(target: string): void {
  if (target.startsWith('/')) return;
  throw new HostError('not_found', 'the host has no such path', {
    nextActions: ['send the path alone as the target of the request'],
  });
}

function beginSpan(ctx: HostContext, tracing: RequestTracing | null): void {
  if (tracing === null) return;
  const { headers, requestId, trace } = ctx.state.exchange;
  const hostRoute = trace.isForwarded ? null : BRIDGE_ROUTE;
  trace.span = tracing.begin({
    method: ctx.req.method ?? '',
    scheme: ctx.secure ? 'https' : 'http',
    hostRoute,
    headers,
    requestId,
    trace,
  });
  trace.traceId = trace.span.traceId;
}

/** Everything of the shape `/modules/{module}/http/{*path}`, judged on the raw target. */
function createModuleDispatch(
  options: Pick<AppOptions, 'forward' | 'bridge' | 'authentication' | 'tracing'>,
): Middleware<HostState> {
  return async (ctx, next) => {
    const verdict = parseTarget(ctx.req.url ?? '');
    if (verdict.kind === 'host') {
      assertOriginForm(ctx.req.url ?? '');
      return next();
    }
    const { exchange } = ctx.state;
    const target = verdict.kind === 'module' ? verdict : null;
    const permission = target && readBridgePermission(target);
    exchange.trace.isForwarded = permission === null;
    beginSpan(ctx, options.tracing);
    const actor = await authenticate(ctx, options.authentication);
    const request = createCallerRequest(ctx, actor);
    const answer =
      target === null || permission === null
        ? await options.forward.execute(target, request)
        : await crossBridge(ctx, options.bridge, target.module, permission, request);
    exchange.reply = createReply(answer);
  };
}

/** The permission of a target of the bridge's shape; `null` for any other. */
function readBridgePermission({ segments }: ModuleTarget): string | null {
  return segments.length === 2 && segments[0] === 'console-bridge' ? (segments[1] ?? null) : null;
}

async function crossBridge(
  ctx: HostContext,
  bridge: ConsoleBridge,
  module: string,
  permission: string,
  request: CallerRequest,
): Promise<Answer> {
  if (ctx.req.method !== 'POST') {
    throw new HostError('not_found', 'the console bridge takes POST alone', {
      nextActions: ['send a POST'],
    });
  }
  return bridge.execute({ module, permission, body: await readBridgeBody(ctx) }, request);
}
