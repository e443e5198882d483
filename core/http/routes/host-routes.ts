import Router from '@koa/router';
import type { Middleware } from 'koa';
import { HostError } from '../../errors.js';
import { isLoopbackHostHeader } from '../../lib/loopback.js';
import { authorize } from '../../operations/authorization.js';
import type { Explain } from '../../operations/explain/explain.js';
import { Reply } from '../../operations/reply.js';
import type { ListCalls } from '../../operations/status/list-calls.js';
import type { ListManifests } from '../../operations/status/list-manifests.js';
import type { ListModules } from '../../operations/status/list-modules.js';
import type { ListPlugins } from '../../operations/status/list-plugins.js';
import type { ReadMetrics } from '../../operations/status/read-metrics.js';
import { type Authentication, authenticate } from '../authenticate-request.js';
import type { HostContext, HostState, RequestContext } from '../request-context.js';
import { isProblemCode, renderProblemPage } from '../response/problem-page.js';
import { readCallQuery } from './calls-query.js';
import { readExplainInput } from './explain-query.js';

export interface HostRoutesOptions {
  readonly authentication: Authentication;
  readonly listModules: ListModules;
  readonly listManifests: ListManifests;
  readonly listPlugins: ListPlugins;
  readonly explain: Explain;
  readonly listCalls: ListCalls;
  readonly readMetrics: ReadMetrics;
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

/** The host's own routes. Requests to `/modules/{module}/http/{*path}` never get here. */
export function createHostRoutes(options: HostRoutesOptions): Middleware<HostState>[] {
  const router = new Router<HostState>({ strict: true, sensitive: true });
  addPublicRoutes(router, options);
  const get = (
    path: string,
    handle: (request: RequestContext, ctx: HostContext) => Promise<Reply>,
  ) => {
    router.get(path, async (ctx) => {
      await authenticate(ctx.state.request, options.authentication);
      ctx.state.reply = await handle(ctx.state.request, ctx);
    });
  };
  get('/modules', (request) => options.listModules.execute(null, request));
  get('/manifests', (request) => options.listManifests.execute(null, request));
  get('/plugins', (request) => options.listPlugins.execute(null, request));
  get('/explain', (request, ctx) => options.explain.execute(readExplainInput(ctx), request));
  get('/calls', (request, ctx) => options.listCalls.execute(readCallQuery(ctx), request));
  router.get('/metrics', async ({ state }) => {
    const { request } = state;
    // A page that rebinds its name to loopback must not read them.
    const isPublic = options.hasPublicMetrics && isLoopbackHostHeader(request.headers.get('host'));
    const actor = isPublic ? null : await authenticate(request, options.authentication);
    state.reply = await options.readMetrics.execute(actor);
  });
  return [router.routes() as unknown as Middleware<HostState>, rejectUnrouted];
}

function addPublicRoutes(router: Router<HostState>, options: HostRoutesOptions): void {
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

function createUnknownPath(): HostError {
  return new HostError('not_found', 'the host has no such path', {
    nextActions: ['modules are called at /modules/{module}/http/{path}'],
  });
}

function createPublicReply(value: unknown): Reply {
  return Reply.json(authorize(null, { kind: 'public' }), value);
}
