import Router, { type RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import { HostError, PROBLEMS, type ProblemCode } from '../../errors.js';
import type { DependencyContainer } from '../../injection.js';
import type { MountSource } from '../../modules/mount-table.js';
import { DecideApproval, parseDecision } from '../../operations/approvals/decide-approval.js';
import { ListApprovals, ReadApproval } from '../../operations/approvals/read-approvals.js';
import { RequestApproval } from '../../operations/approvals/request-approval.js';
import { authorize } from '../../operations/authorization.js';
import { Explain } from '../../operations/explain/explain.js';
import { InvokeOperation } from '../../operations/exposed/invoke-operation.js';
import { ListOperations } from '../../operations/exposed/list-operations.js';
import {
  type OperationRequest,
  parseOperationRequest,
} from '../../operations/exposed/operation-request.js';
import { assertSignedBody } from '../../operations/forward/body-policy.js';
import { PublishRelease } from '../../operations/releases/publish-release.js';
import { ListReleases, ReadRelease } from '../../operations/releases/read-releases.js';
import {
  MAX_RELEASE_BODY_BYTES,
  parsePublish,
  parseRollback,
} from '../../operations/releases/release-requests.js';
import { RollbackRelease } from '../../operations/releases/rollback-release.js';
import { type Handler, Reply } from '../../operations/reply.js';
import { ListAudit } from '../../operations/status/list-audit.js';
import { ListCalls } from '../../operations/status/list-calls.js';
import { ListManifests } from '../../operations/status/list-manifests.js';
import { ListModules } from '../../operations/status/list-modules.js';
import { ListPlugins } from '../../operations/status/list-plugins.js';
import { ListRoles } from '../../operations/status/list-roles.js';
import { PurgeCache } from '../../operations/status/purge-cache.js';
import { ReadCandidate } from '../../operations/status/read-candidate.js';
import { ReadDescriptor } from '../../operations/status/read-descriptor.js';
import { ReadFleet } from '../../operations/status/read-fleet.js';
import { ReadMetrics } from '../../operations/status/read-metrics.js';
import { ReadOpenApi } from '../../operations/status/read-openapi.js';
import { readHostBody } from '../host-body.js';
import { isFromLoopback } from '../request/loopback-rights.js';
import { findOwnOrigin } from '../request/own-origin.js';
import type { HostContext, HostState } from '../request-context.js';
import { describeResource, type ResourceOptions } from '../surfaces/protected-resource.js';
import { readExplainInput } from './explain-query.js';
import type { HostPath } from './host-paths.js';
import {
  readApprovalsQuery,
  readAuditQuery,
  readCallQuery,
  readOpenApiQuery,
  readPurgeQuery,
} from './queries.js';
import {
  createQueryError,
  digestParameter,
  moduleParameter,
  readQuery,
  servedParameter,
} from './query.js';
import { createUnknownPath } from './unknown-path.js';

export interface HostRoutesOptions extends ResourceOptions {
  /** The origin of the public URL; `null` without one. */
  readonly publicOrigin: string | null;
  /** Builds the handlers. */
  readonly container: Pick<DependencyContainer, 'resolve'>;
  readonly mounts: MountSource;
  /** The keys with which providers verify `modgate-identity`. */
  readonly identityKeys: () => unknown;
  /** Whether `GET /metrics` needs no credentials, which requires a loopback address. */
  readonly hasPublicMetrics: boolean;
  /** The longest pause of a body. Milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Returns `null` when ready, otherwise the reason. */
  readonly unreadyReason: () => string | null;
}

const NO_BODY = Buffer.alloc(0);
const HTML_TYPE = 'text/html; charset=utf-8';
/** Pages of the host load no resources. */
const PAGE_HEADERS = ['content-security-policy', "default-src 'none'"];

type HandleRoute = (ctx: RouterContext<HostState>) => void | Promise<void>;

/** Accepts only listed paths, which no surface can have. */
interface HostRouter {
  get(path: HostPath, handle: HandleRoute): unknown;
  delete(path: HostPath, handle: HandleRoute): unknown;
  post(path: HostPath, handle: HandleRoute): unknown;
  routes(): unknown;
}

/** Creates the host's own routes. Requests to `/modules/{module}/http/{*path}` never reach them. */
export function createHostRoutes(options: HostRoutesOptions): Middleware<HostState>[] {
  const { container } = options;
  const router: HostRouter = new Router<HostState>({ strict: true, sensitive: true });
  addPublicRoutes(router, options);
  const add =
    (method: 'get' | 'delete' | 'post') =>
    <Input>(
      path: HostPath,
      handler: Handler<Input>,
      readInput: (ctx: RouterContext<HostState>, body: Buffer) => Input,
      maxBytes?: number,
    ) => {
      const readBody = (ctx: HostContext) => readHostBody(ctx, options.bodyTimeoutMs, maxBytes);
      router[method](path, async (ctx) => {
        const body = await admitHostCall(ctx, method === 'post' ? readBody : null);
        ctx.state.reply = await handler.execute(readInput(ctx, body), ctx.state.request);
      });
    };
  const get = add('get');
  const post = add('post');
  add('delete')('/cache', container.resolve(PurgeCache), readPurgeQuery);
  get('/modules', container.resolve(ListModules), readNothing);
  get('/manifests', container.resolve(ListManifests), readModuleQuery);
  get('/operations', container.resolve(ListOperations), readModuleQuery);
  get('/plugins', container.resolve(ListPlugins), readNothing);
  get('/fleet', container.resolve(ReadFleet), readFleetQuery);
  get('/roles', container.resolve(ListRoles), readNothing);
  get('/explain', container.resolve(Explain), (ctx) => {
    return readExplainInput(ctx, options.mounts);
  });
  post('/operations', container.resolve(InvokeOperation), parseSurfaceCall);
  post('/approvals', container.resolve(RequestApproval), parseSurfaceCall);
  post('/approvals/:id', container.resolve(DecideApproval), (ctx, body) => {
    return { id: readApprovalId(ctx), decision: parseDecision(body) };
  });
  get('/approvals', container.resolve(ListApprovals), readApprovalsQuery);
  get('/approvals/:id', container.resolve(ReadApproval), readApprovalId);
  post('/releases', container.resolve(PublishRelease), readPublish, MAX_RELEASE_BODY_BYTES);
  post('/rollback', container.resolve(RollbackRelease), readRollback);
  get('/releases', container.resolve(ListReleases), readNothing);
  get('/releases/:id', container.resolve(ReadRelease), readReleaseQuery);
  get('/calls', container.resolve(ListCalls), readCallQuery);
  get('/openapi.json', container.resolve(ReadOpenApi), readOpenApiQuery);
  get('/audit', container.resolve(ListAudit), readAuditQuery);
  get('/descriptors', container.resolve(ReadDescriptor), readNamedModule);
  get('/candidate', container.resolve(ReadCandidate), readNamedModule);
  const readMetrics = container.resolve(ReadMetrics);
  router.get('/metrics', async (ctx) => {
    const { request } = ctx.state;
    // Excludes pages that rebind their name to loopback, and clients behind a proxy.
    const isPublic =
      options.hasPublicMetrics && request.inProcess === null && isFromLoopback(request.req);
    if (!isPublic) await admitHostCall(ctx);
    ctx.state.reply = await readMetrics.execute(isPublic ? null : request.actor);
  });
  return [router.routes() as Middleware<HostState>, rejectUnrouted];
}

/** Parses a call of an agent, which uses a surface that asks for approval if necessary. */
function parseSurfaceCall({ state }: RouterContext<HostState>, body: Buffer): OperationRequest {
  if (state.request.inProcess === null) {
    throw new HostError('forbidden', 'only surfaces of the host call operations', {
      nextActions: ['call the tool of a surface such as mcp'],
    });
  }
  return parseOperationRequest(body);
}

/** Longer than any id. */
const MAX_ID_LENGTH = 64;

function readApprovalId({ params }: RouterContext<HostState>): string {
  return (params['id'] ?? '').slice(0, MAX_ID_LENGTH);
}

/** Longer than any digest. */
const MAX_DIGEST_LENGTH = 128;

function readPublish(_ctx: HostContext, body: Buffer) {
  return parsePublish(body);
}

function readRollback(_ctx: HostContext, body: Buffer) {
  return parseRollback(body);
}

function readReleaseQuery(ctx: RouterContext<HostState>) {
  const { against } = readQuery(ctx, { against: digestParameter });
  return { id: (ctx.params['id'] ?? '').slice(0, MAX_DIGEST_LENGTH), against };
}

function readNothing(): null {
  return null;
}

/** Reads `?module=`; `null` for all modules. @throws HostError 400. */
function readModuleQuery(ctx: HostContext): string | null {
  return readQuery(ctx, { module: moduleParameter }).module;
}

/** Reads `GET /fleet?serves=`. @throws HostError 400. */
function readFleetQuery(ctx: HostContext): string | null {
  return readQuery(ctx, { serves: servedParameter }).serves;
}

/** Reads the required `?module=`. @throws HostError 400. */
function readNamedModule(ctx: HostContext): string {
  const { module } = readQuery(ctx, { module: moduleParameter });
  if (module === null) throw createQueryError('module', 'missing', 'use module');
  return module;
}

/** Authenticates a call. Without a body, the credentials must not cover one. */
async function admitHostCall(
  ctx: HostContext,
  readBody: ((ctx: HostContext) => Promise<Buffer>) | null = null,
): Promise<Buffer> {
  const { request } = ctx.state;
  request.facts.step = 'actor';
  await request.authenticate();
  let body: Buffer = NO_BODY;
  if (readBody !== null) {
    request.facts.step = 'body';
    body = await readBody(ctx);
    request.facts.bytesIn = body.length;
  }
  assertSignedBody(request, body);
  request.facts.step = 'host';
  return body;
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
  const serveMetadata = ({ state }: RouterContext<HostState>) => {
    const { req, target } = state.request;
    const metadata = describeResource(target, findOwnOrigin(req, options.publicOrigin), options);
    if (metadata === null) throw createUnknownPath();
    state.reply = createPublicReply(metadata);
  };
  router.get('/.well-known/oauth-protected-resource', serveMetadata);
  router.get('/.well-known/oauth-protected-resource/*path', serveMetadata);
  router.get('/problems/:code', (ctx) => {
    const code = ctx.params['code'] ?? '';
    if (!isProblemCode(code)) throw createUnknownPath();
    const page = Buffer.from(renderProblemPage(code));
    const authorization = authorize(null, { kind: 'public' });
    ctx.state.reply = Reply.ok(authorization, [page], HTML_TYPE, PAGE_HEADERS);
  });
}

/** Rejects a known path with another method by 405, any other path by 404, OPTIONS included. */
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

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/** The page behind a Problem's `type`. It contains constant text only. */
function renderProblemPage(code: ProblemCode): string {
  const { status, title, meaning, whatToDo } = PROBLEMS[code];
  const statusText = code === 'provider_error' ? "the provider's" : String(status);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
<p><code>${code}</code>, status ${statusText}</p>
<p>${meaning}</p>
<p>${whatToDo}</p>
</body>
</html>
`;
}
