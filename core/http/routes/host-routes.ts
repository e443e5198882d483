import Router from '@koa/router';
import type { Middleware } from 'koa';
import { BodyPieces } from '../../contract/body-pieces.js';
import { createUnavailable, HostError } from '../../errors.js';
import type { DependencyContainer } from '../../injection.js';
import { ModuleRegistry, NO_RELEASE } from '../../modules/module-registry.js';
import { type Authorization, authorize } from '../../operations/authorization.js';
import { findOperation } from '../../operations/exposed/list-operations.js';
import { assertSignedBody } from '../../operations/forward/body-policy.js';
import { MAX_BODY_BYTES, readHostBody, readLongHostBody } from '../host-body.js';
import { isFromLoopback } from '../request/loopback-rights.js';
import type { HostContext, HostState } from '../request-context.js';
import type { HostResources } from './host-resources.js';
import { LISTED_ROUTES, type ListedRoute } from './host-route-list.js';
import { createUnknownPath } from './unknown-path.js';

export interface HostRoutesOptions {
  readonly resources: HostResources;
  /** Has what the resources need. */
  readonly container: Pick<DependencyContainer, 'resolve'>;
  /** Whether `GET /metrics` needs no credentials, which requires a loopback address. */
  readonly hasPublicMetrics: boolean;
  /** The longest pause of a body. Milliseconds. */
  readonly bodyTimeoutMs: number;
}

/** Creates the host's own routes. Requests to `/modules/{module}/http/{*path}` never reach them. */
export function createHostRoutes(options: HostRoutesOptions): Middleware<HostState>[] {
  const router = new Router<HostState>({ strict: true, sensitive: true });
  for (const route of LISTED_ROUTES) {
    const answer = options.resources[route.name].bind(options.container);
    router[route.method](route.path, async (ctx) => {
      const { querystring, params, state } = ctx;
      const { request } = state;
      const authorization = await admit(ctx, route, options);
      const body = await readRouteBody(ctx, route, options);
      state.reply = await answer({ querystring, params, body, authorization, request });
    });
  }
  const registry = options.container.resolve(ModuleRegistry);
  return [
    router.routes() as Middleware<HostState>,
    (ctx) => rejectUnrouted(ctx, registry.lacksRelease),
  ];
}

/** Decides whether the caller may use the route, before anything but its head is read. */
async function admit(
  { state: { request } }: HostContext,
  { right, isOpenOnLoopback }: ListedRoute,
  { hasPublicMetrics, container }: HostRoutesOptions,
): Promise<Authorization> {
  // Excludes pages that rebind their name to loopback, and clients behind a proxy.
  const isOpen =
    isOpenOnLoopback &&
    hasPublicMetrics &&
    request.inProcess === null &&
    isFromLoopback(request.req);
  if (isOpen || right.kind === 'public') return authorize(null, { kind: 'public' });
  request.facts.step = 'actor';
  await request.authenticate();
  request.facts.step = 'host';
  const authorization = authorize(request.actor, right, request.inProcess?.surface ?? null);
  const { operation } = request;
  if (operation !== null) {
    // The right for the operation is decided before its arguments are read.
    const called = { module: operation.module, operation: operation.id };
    findOperation(container.resolve(ModuleRegistry), called, request);
  }
  return authorization;
}

/** Without a body, the credentials must not cover one. */
async function readRouteBody(
  ctx: HostContext,
  { method, maxBodyBytes = MAX_BODY_BYTES }: ListedRoute,
  { bodyTimeoutMs }: HostRoutesOptions,
): Promise<BodyPieces> {
  const { request } = ctx.state;
  let body = new BodyPieces();
  if (method === 'post') {
    request.facts.step = 'body';
    if (maxBodyBytes > MAX_BODY_BYTES) {
      body = await readLongHostBody(ctx, bodyTimeoutMs, maxBodyBytes);
    } else body.add(await readHostBody(ctx, bodyTimeoutMs, maxBodyBytes));
    request.facts.bytesIn = body.length;
  }
  if (request.bodySha256 !== null) await assertSignedBody(request, body.join());
  request.facts.step = 'host';
  return body;
}

/** Rejects a known path with another method by 405, any other path by 404, OPTIONS included. */
function rejectUnrouted(ctx: HostContext, lacksRelease: boolean): never {
  const layers: readonly { readonly methods: readonly string[] }[] = ctx['matched'] ?? [];
  const allowed = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
  // The path may be a mount of the release.
  if (allowed.length === 0 && lacksRelease) throw createUnavailable(NO_RELEASE);
  if (allowed.length === 0) throw createUnknownPath();
  throw new HostError('method_not_allowed', 'the path does not support this method', {
    headers: { allow: allowed.join(', ') },
    nextActions: [`use ${allowed.join(' or ')}`],
  });
}
