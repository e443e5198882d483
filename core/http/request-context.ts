import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ParameterizedContext } from 'koa';
import type { Actor } from '../contract/index.js';
import type { HostError } from '../errors.js';
import { nameActor } from '../lib/actor-name.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';
import type { CompletedRequest } from '../observability/completed-request.js';
import type { Reply } from '../operations/reply.js';
import {
  type CallerRequest,
  ClientClosed,
  createRequestFacts,
  type RequestFacts,
} from '../operations/request.js';
import { HeldMemory } from '../provider/held-memory.js';
import type { MemoryBudget } from '../provider/memory-budget.js';
import { readBody } from './request/body.js';
import { CallerHeaders } from './request/caller-headers.js';
import { createIds } from './request/ids.js';
import type { InterruptibleRequest } from './server/interruptible-requests.js';
import { ConnectionEnd, type InProcessCaller } from './surfaces/in-process-connection.js';

const CLIENT_CLOSED_STATUS = 499;

export interface RequestContextOptions {
  /** How long the host waits for the next part of a body. Milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Counts the bodies of all requests. */
  readonly memory: MemoryBudget;
}

/** What is known of a response before it is sent. */
export type DecidedReply = Pick<Reply, 'status' | 'length'>;

/** One request, from its parsed head until its response has left: `ctx.state.request`. */
export class RequestContext implements CallerRequest, InterruptibleRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly method: string;
  /** As on the request line. */
  readonly target: string;
  readonly headers: CallerHeaders;
  readonly requestId: string;
  readonly correlationId: string;
  readonly facts: RequestFacts = createRequestFacts();
  /** Aborted when the client closes the connection before the response is complete. */
  readonly signal = new LazyAbortController();
  /** Who called without a socket; `null` for a request over the network. */
  readonly inProcess: InProcessCaller | null;
  /** What the request occupies until its response has left. */
  readonly held: HeldMemory;
  bodySha256: string | null = null;
  /** `null` until the reply is decided. */
  completed: CompletedRequest | null = null;
  #authenticated: Actor | null = null;
  #actorName: string | null = null;
  #interruption: HostError | null = null;
  readonly #bodyTimeoutMs: number;
  readonly #startedAt = performance.now();

  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    { bodyTimeoutMs, memory }: RequestContextOptions,
  ) {
    this.req = req;
    this.res = res;
    this.method = req.method ?? '';
    this.target = req.url ?? '';
    this.held = new HeldMemory(memory);
    this.headers = new CallerHeaders(req);
    const { requestId, correlationId } = createIds(this.headers);
    this.requestId = requestId;
    this.correlationId = correlationId;
    this.#bodyTimeoutMs = bodyTimeoutMs;
    const socket: Duplex = req.socket;
    this.inProcess = socket instanceof ConnectionEnd ? socket.caller : null;
    this.facts.surface = this.inProcess?.surface ?? null;
  }

  /** @throws Error before the request is authenticated. */
  get actor(): Actor {
    if (this.#authenticated === null) throw new Error('the request is not authenticated');
    return this.#authenticated;
  }

  /** `null` until the request is authenticated. */
  get authenticated(): Actor | null {
    return this.#authenticated;
  }

  /** Call it once. */
  authenticateAs(actor: Actor): void {
    this.#authenticated = actor;
    this.#actorName = nameActor(actor);
    this.held.identify(this.#actorName);
  }

  /** @param tooLargeStatus of a body that is longer; default 400 */
  readBody(limit: number, tooLargeStatus?: number): Promise<Buffer> {
    const { held, signal } = this;
    const timeoutMs = this.#bodyTimeoutMs;
    return readBody(this.req, this.res, { held, limit, timeoutMs, tooLargeStatus, signal });
  }

  interrupt(problem: HostError): void {
    this.#interruption = problem;
    this.signal.abort(new ClientClosed());
  }

  /** Whether the rest of the body was rejected: the client has been answered. */
  get isInterrupted(): boolean {
    return this.#interruption !== null;
  }

  /** @param reply `null` when the client has closed the connection, or the request was interrupted */
  complete(reply: DecidedReply | null): CompletedRequest {
    const interruption = reply === null ? this.#interruption : null;
    if (reply === null && interruption === null) this.facts.failure = 'cancelled';
    this.completed = {
      requestId: this.requestId,
      correlationId: this.correlationId,
      actor: this.#actorName,
      actorKind: this.#authenticated?.kind ?? null,
      facts: this.facts,
      method: this.method,
      status: (reply ?? interruption)?.status ?? CLIENT_CLOSED_STATUS,
      bytesOut: reply === null || this.method === 'HEAD' ? 0 : reply.length,
      durationMs: performance.now() - this.#startedAt,
      completedAt: Date.now(),
    };
    return this.completed;
  }

  /** For a body whose length was not known when the request was completed. */
  recordSent(bytesOut: number): void {
    if (this.completed === null) return;
    const durationMs = performance.now() - this.#startedAt;
    this.completed = { ...this.completed, bytesOut, durationMs };
  }
}

export interface HostState {
  request: RequestContext;
  /** What a route of the host replies; set by the route. */
  reply: Reply;
}

export type HostContext = ParameterizedContext<HostState>;
