import Router from '@koa/router';
import type { Middleware } from 'koa';
import { HostError } from '../../errors.js';
import { authorize } from '../../operations/authorization.js';
import type { Explain } from '../../operations/explain/explain.js';
import { Answer } from '../../operations/handler.js';
import type { ListCalls } from '../../operations/status/list-calls.js';
import type { ListManifests } from '../../operations/status/list-manifests.js';
import type { ListModules } from '../../operations/status/list-modules.js';
import type { ListPlugins } from '../../operations/status/list-plugins.js';
import type { ReadMetrics } from '../../operations/status/read-metrics.js';
import { type Authentication, authenticate } from '../authenticate.js';
import { createCallerRequest } from '../create-request.js';
import type { HostContext, HostState } from '../request-context.js';
import { isProblemCode, renderProblemPage } from '../response/problem-page.js';
import { createReply, JSON_TYPE } from '../response/reply.js';
import { readCallQuery } from './calls-query.js';
import { readExplainInput } from './explain-query.js';

export interface HostRoutesOptions {
  readonly authentication: Authentication;
  readonly moduleStatus: ListModules;
  readonly listManifests: ListManifests;
  readonly listPlugins: ListPlugins;
  readonly explain: Explain;
  readonly listCalls: ListCalls;
  readonly readMetrics: ReadMetrics;
  /** What providers verify `modgate-identity` with. */
  readonly identityKeys: () => unknown;
  /** Whether `GET /metrics` asks for no credentials: on a host that listens on loopback only. */
  readonly hasPublicMetrics: boolean;
  /** `null` when ready, else why not. */
  readonly unreadyReason: () => string | null;
}

const HTML_TYPE = 'text/html; charset=utf-8';
/** Nothing on a page of the host is loaded from anywhere. */
const PAGE_HEADERS = ['content-security-policy', "default-src 'none'"];

/** The host's own routes (contract 7). Everything under `/modules/…/http/` is dispatched before them. */
export function createHostRoutes(options: HostRoutesOptions): Middleware<HostState>[] {
  const router = new Router<HostState>({ strict: true, sensitive: true });
  router.get('/livez', (ctx) => {
    answerPublicJson(ctx, { status: 'ok' });
  });
  router.get('/readyz', (ctx) => {
    const reason = options.unreadyReason();
    if (reason !== null) throw new HostError('unavailable', reason);
    answerPublicJson(ctx, { status: 'ready' });
  });
  router.get('/.well-known/jwks.json', (ctx) => {
    answerPublicJson(ctx, options.identityKeys());
  });
  router.get('/modules', async (ctx) => {
    const actor = await authenticate(ctx, options.authentication);
    answerJson(ctx, await options.moduleStatus.execute(null, createCallerRequest(ctx, actor)));
  });
  router.get('/manifests', async (ctx) => {
    const actor = await authenticate(ctx, options.authentication);
    answerJson(ctx, await options.listManifests.execute(null, createCallerRequest(ctx, actor)));
  });
  router.get('/plugins', async (ctx) => {
    const actor = await authenticate(ctx, options.authentication);
    answerJson(ctx, await options.listPlugins.execute(null, createCallerRequest(ctx, actor)));
  });
  router.get('/explain', async (ctx) => {
    const actor = await authenticate(ctx, options.authentication);
    const input = readExplainInput(ctx);
    answerJson(ctx, await options.explain.execute(input, createCallerRequest(ctx, actor)));
  });
  router.get('/calls', async (ctx) => {
    const actor = await authenticate(ctx, options.authentication);
    const request = createCallerRequest(ctx, actor);
    answerJson(ctx, await options.listCalls.execute(readCallQuery(ctx), request));
  });
  router.get('/metrics', async (ctx) => {
    const actor = options.hasPublicMetrics ? null : await authenticate(ctx, options.authentication);
    const answer = await options.readMetrics.execute(actor);
    ctx.state.exchange.reply = createReply(answer, options.readMetrics.contentType);
  });
  router.get('/problems/:code', (ctx) => {
    const code = ctx.params['code'] ?? '';
    if (!isProblemCode(code)) throw unknownPath();
    answerPublic(ctx, HTML_TYPE, renderProblemPage(code), PAGE_HEADERS);
  });
  return [router.routes() as unknown as Middleware<HostState>, rejectUnrouted];
}

/** A known path with another method is 405, any other path 404; OPTIONS is no exception. */
const rejectUnrouted: Middleware<HostState> = (ctx) => {
  const layers: readonly { readonly methods: readonly string[] }[] = ctx['matched'] ?? [];
  const allowed = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
  if (allowed.length === 0) throw unknownPath();
  throw new HostError('method_not_allowed', 'the path does not take this method', {
    headers: { allow: allowed.join(', ') },
    nextActions: [`use ${allowed.join(' or ')}`],
  });
};

function unknownPath(): HostError {
  return new HostError('not_found', 'the host has no such path', {
    nextActions: ['modules are called at /modules/{module}/http/{path}'],
  });
}

function answerPublicJson(ctx: HostContext, value: unknown): void {
  answerPublic(ctx, JSON_TYPE, JSON.stringify(value));
}

/** For the few routes that ask nobody who calls. */
function answerPublic(
  { state }: HostContext,
  contentType: string,
  text: string,
  headers: readonly string[] = [],
): void {
  const answer = Answer.ofText(authorize(null, { kind: 'public' }), text);
  state.exchange.reply = createReply(answer, contentType, headers);
}

function answerJson({ state }: HostContext, answer: Answer): void {
  state.exchange.reply = createReply(answer);
}
