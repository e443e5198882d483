import Router, { type RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { Actor } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { isLoopbackHostHeader } from '../../lib/loopback.js';
import { authorize } from '../../operations/authorization.js';
import type { Explain } from '../../operations/explain/explain.js';
import type { ExplainCalls } from '../../operations/explain/explain-calls.js';
import { assertSignedBody } from '../../operations/forward/signed-body.js';
import { Reply } from '../../operations/reply.js';
import type { ListAudit } from '../../operations/status/list-audit.js';
import type { ListCalls } from '../../operations/status/list-calls.js';
import type { ListManifests } from '../../operations/status/list-manifests.js';
import type { ListModules } from '../../operations/status/list-modules.js';
import type { ListPlugins } from '../../operations/status/list-plugins.js';
import type { ReadDescriptor } from '../../operations/status/read-descriptor.js';
import type { ReadMetrics } from '../../operations/status/read-metrics.js';
import type { ReadOpenApi } from '../../operations/status/read-openapi.js';
import { type Authentication, authenticate } from '../authenticate-request.js';
import type { HostContext, HostState, RequestContext } from '../request-context.js';
import { isProblemCode, renderProblemPage } from '../response/problem-page.js';
import { readAuditQuery } from './audit-query.js';
import { readCallQuery } from './calls-query.js';
import { readExplainInput } from './explain-query.js';
import type { HostPath } from './host-paths.js';
import { readOpenApiQuery } from './openapi-query.js';
import { createQueryError, moduleParameter, readQuery } from './query.js';
import { createUnknownPath } from './unknown-path.js';

export interface HostRoutesOptions {
  readonly authentication: Authentication;
  readonly listModules: ListModules;
  readonly listManifests: ListManifests;
  readonly listPlugins: ListPlugins;
  readonly explain: Explain;
  readonly explainCalls: ExplainCalls;
  readonly listCalls: ListCalls;
  readonly listAudit: ListAudit;
  readonly readDescriptor: ReadDescriptor;
  readonly readMetrics: ReadMetrics;
  readonly readOpenApi: ReadOpenApi;
  /** The keys with which providers verify `modgate-identity`. */
  readonly identityKeys: () => unknown;
  /** Whether `GET /metrics` needs no credentials: on a host that listens on loopback only. */
  readonly hasPublicMetrics: boolean;
  /** `null` when ready, otherwise the reason. */
  readonly unreadyReason: () => string | null;
}

const HTML_TYPE = 'text/html; charset=utf-8';
/** Pages of the host load no resources. */
const PAGE_HEADERS = ['content-security-policy', "default-src 'none'"];

/** Accepts listed paths only, which no surface can have. */
interface HostRouter {
  get(path: HostPath, handle: (ctx: RouterContext<HostState>) => void | Promise<void>): unknown;
  routes(): unknown;
}

/** The host's own routes. Requests to `/modules/{module}/http/{*path}` never get here. */
export function createHostRoutes(options: HostRoutesOptions): Middleware<HostState>[] {
  const router: HostRouter = new Router<HostState>({ strict: true, sensitive: true });
  addPublicRoutes(router, options);
  const get = (
    path: HostPath,
    handle: (request: RequestContext, ctx: HostContext) => Promise<Reply>,
  ) => {
    router.get(path, async (ctx) => {
      await authenticateHostCall(ctx.state.request, options.authentication);
      ctx.state.reply = await handle(ctx.state.request, ctx);
    });
  };
  get('/modules', (request) => options.listModules.execute(null, request));
  get('/manifests', (request) => options.listManifests.execute(null, request));
  get('/plugins', (request) => options.listPlugins.execute(null, request));
  get('/explain', (request, ctx) => {
    const input = readExplainInput(ctx);
    return 'requestId' in input
      ? options.explainCalls.execute(input, request)
      : options.explain.execute(input, request);
  });
  get('/calls', (request, ctx) => options.listCalls.execute(readCallQuery(ctx), request));
  get('/openapi.json', (request, ctx) =>
    options.readOpenApi.execute(readOpenApiQuery(ctx), request),
  );
  get('/audit', (request, ctx) => options.listAudit.execute(readAuditQuery(ctx), request));
  get('/descriptors', (request, ctx) => {
    const { module } = readQuery(ctx, { module: moduleParameter });
    if (module === null) throw createQueryError('module', 'missing', 'use module');
    return options.readDescriptor.execute(module, request);
  });
  router.get('/metrics', async ({ state }) => {
    const { request } = state;
    // A page that rebinds its name to loopback must not read them.
    const isPublic =
      options.hasPublicMetrics &&
      request.inProcess === null &&
      isLoopbackHostHeader(request.headers.get('host'));
    const actor = isPublic ? null : await authenticateHostCall(request, options.authentication);
    state.reply = await options.readMetrics.execute(actor);
  });
  return [router.routes() as Middleware<HostState>, rejectUnrouted];
}

/** These routes take no body, so the credentials must not cover one. */
async function authenticateHostCall(
  request: RequestContext,
  authentication: Authentication,
): Promise<Actor> {
  const actor = await authenticate(request, authentication);
  assertSignedBody(request, null);
  return actor;
}

function addPublicRoutes(router: HostRouter, options: HostRoutesOptions): void {
  router.get('/livez', ({ state }) => {
    state.reply = createPublicReply({ status: 'ok' });
  });
  router.get('/readyz', ({ state }) => {
    const reason = options.unreadyReason();
    if (reason !== null) throw new HostError('unavailable', reason);
    state.reply = createPublicReply({ status: 'ready' });
  });
  router.get('/.well-known/jwks.json', ({ state }) => {
    state.reply = createPublicReply(options.identityKeys());
  });
  router.get('/problems/:code', (ctx) => {
    const code = ctx.params['code'] ?? '';
    if (!isProblemCode(code)) throw createUnknownPath();
    const page = Buffer.from(renderProblemPage(code));
    const authorization = authorize(null, { kind: 'public' });
    ctx.state.reply = Reply.ok(authorization, [page], HTML_TYPE, PAGE_HEADERS);
  });
}

/** A known path with another method is 405, any other path 404; OPTIONS is no exception. */
const rejectUnrouted: Middleware<HostState> = (ctx) => {
  const layers: readonly { readonly methods: readonly string[] }[] = ctx['matched'] ?? [];
  const allowed = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
  if (allowed.length === 0) throw createUnknownPath();
  throw new HostError('method_not_allowed', 'the path does not support this method', {
    headers: { allow: allowed.join(', ') },
    nextActions: [`use ${allowed.join(' or ')}`],
  });
};

function createPublicReply(value: unknown): Reply {
  return Reply.json(authorize(null, { kind: 'public' }), value);
}
