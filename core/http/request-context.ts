import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ParameterizedContext } from 'koa';
import type { Actor } from '../contract/index.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';
import type { CompletedRequest } from '../observability/completed-request.js';
import type { Reply } from '../operations/reply.js';
import {
  type CallerRequest,
  createRequestTrace,
  type RequestTrace,
} from '../operations/request.js';
import { readBody } from './request/body.js';
import { CallerHeaders } from './request/headers.js';
import { type RequestIds, readCorrelationId, readRequestId } from './request/ids.js';

const CLIENT_CLOSED_STATUS = 499;

/** One request, from its parsed head until its response has left: `ctx.state.request`. */
export class RequestContext implements CallerRequest, RequestIds {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly headers: CallerHeaders;
  readonly requestId: string;
  readonly correlationId: string;
  readonly trace: RequestTrace = createRequestTrace();
  /** Aborted when the client closes the connection before the response is complete. */
  readonly signal = new LazyAbortController();
  /** `null` until the request is authenticated. */
  authenticated: Actor | null = null;
  /** `null` until the reply is decided. */
  completed: CompletedRequest | null = null;
  readonly #bodyTimeoutMs: number;
  readonly #startedAt = performance.now();

  constructor(req: IncomingMessage, res: ServerResponse, bodyTimeoutMs: number) {
    this.req = req;
    this.res = res;
    this.headers = new CallerHeaders(req);
    this.requestId = readRequestId(this.headers);
    this.correlationId = readCorrelationId(this.headers);
    this.#bodyTimeoutMs = bodyTimeoutMs;
  }

  get method(): string {
    return this.req.method ?? '';
  }

  /** @throws Error before the request is authenticated. */
  get actor(): Actor {
    if (this.authenticated === null) throw new Error('the request is not authenticated');
    return this.authenticated;
  }

  readBody(limit: number): Promise<Buffer> {
    return readBody(this.req, this.res, { limit, timeoutMs: this.#bodyTimeoutMs });
  }

  /** @param reply `null` when the client has closed the connection */
  complete(reply: Reply | null): CompletedRequest {
    if (reply === null) this.trace.failure = 'cancelled';
    this.completed = {
      requestId: this.requestId,
      correlationId: this.correlationId,
      actor: this.authenticated,
      trace: this.trace,
      method: this.method,
      status: reply === null ? CLIENT_CLOSED_STATUS : reply.status,
      bytesOut: reply === null || this.method === 'HEAD' ? 0 : reply.length,
      durationMs: performance.now() - this.#startedAt,
    };
    return this.completed;
  }
}

export interface HostState {
  request: RequestContext;
  /** What a route of the host replies; set by the route. */
  reply: Reply;
}

export type HostContext = ParameterizedContext<HostState>;
