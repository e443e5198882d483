import type { Actor } from '../contract/index.js';
import type { CallerRequest } from '../operations/request.js';
import { readBody } from './request/body.js';
import type { HostContext } from './request-context.js';

/** Translates Koa's context into what operations know. */
export function createCallerRequest(ctx: HostContext, actor: Actor): CallerRequest {
  const { exchange } = ctx.state;
  exchange.actor = actor;
  return {
    method: ctx.req.method ?? '',
    actor,
    requestId: exchange.requestId,
    correlationId: exchange.correlationId,
    headers: exchange.headers,
    readBody: (limit) => readBody(ctx.req, ctx.res, limit),
    signal: exchange.signal,
    trace: exchange.trace,
  };
}
