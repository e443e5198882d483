import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ParameterizedContext } from 'koa';
import type { Rejection } from '../contract/call-record.js';
import type { Actor, NamedOperation, Secret } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { HostError } from '../errors.js';
import { nameActor, nameShare } from '../lib/actor-name.js';
import { nameNetwork } from '../lib/client-network.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';
import { rejectOnAbort } from '../lib/promises.js';
import type { Mask } from '../lib/secrets/mask-secrets.js';
import { forEachInSlices } from '../lib/slices.js';
import type { MountSource } from '../modules/mount-table.js';
import type { CompletedRequest } from '../observability/completed-request.js';
import type { Reply } from '../operations/reply.js';
import {
  type BodyCheck,
  type CallerRequest,
  type Client,
  ClientClosed,
  type CurrentActor,
  createRequestFacts,
  nameMount,
  type ParsedTarget,
  type RequestFacts,
} from '../operations/request.js';
import type { Handshake } from '../operations/websocket/handshake.js';
import { HeldMemory } from '../provider/held-memory.js';
import type { MemoryBudget } from '../provider/memory-budget.js';
import type { RateStatus } from '../provider/rate-limits.js';
import { type Authentication, authenticate, reauthenticate } from './authenticate-request.js';
import { createCredentialMask } from './credential-filter.js';
import { describePreflight, describeRejection } from './rejection.js';
import {
  announcesBody,
  createLengthError,
  joinPieces,
  readBody,
  readStart,
  type StartLimits,
  takeArrived,
} from './request/body.js';
import { CallerHeaders, createIds } from './request/caller-headers.js';
import type { Clients } from './request/client.js';
import { parseCalledTarget } from './request/target.js';
import { RequestUpload } from './request/upload.js';
import { findHandshake } from './server/handshake.js';
import type { InterruptibleRequest } from './server/interruptible-requests.js';
import { ConnectionEnd, type InProcessCaller } from './surfaces/in-process-connection.js';

const NO_HEADERS: readonly string[] = [];
const NO_SECRETS: readonly Secret[] = [];
const CLIENT_CLOSED_STATUS = 499;
/** The number of bytes that Node reads ahead of a streamed body. */
const UPLOAD_BUFFER_BYTES = 65_536;

export interface RequestContextOptions {
  /** How long the host waits for the next part of a body. Milliseconds. */
  readonly bodyTimeoutMs: number;
  readonly mounts: MountSource;
  /** Counts the bodies of all requests. */
  readonly memory: MemoryBudget;
  readonly authentication: Authentication;
  readonly cors: { complete(reply: Reply, request: RequestContext): Reply };
  /** Finds the client of a connection. */
  readonly clients: Pick<Clients, 'find'>;
}

/** The properties of a response that are known before it is sent. */
export type DecidedReply = Pick<Reply, 'status' | 'length'>;

/** One request, from its parsed head until its response is sent: `ctx.state.request`. */
export class RequestContext implements CallerRequest, InterruptibleRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly method: string;
  /** The target as on the request line. */
  readonly target: string;
  readonly parsed: ParsedTarget;
  readonly headers: CallerHeaders;
  readonly requestId: string;
  readonly correlationId: string;
  readonly facts: RequestFacts = createRequestFacts();
  /** Aborted when the client closes the connection before the response is complete. */
  readonly signal = new LazyAbortController();
  /** The caller of a request in memory; `null` for a request over the network. */
  readonly inProcess: InProcessCaller | null;
  readonly handshake: Handshake | null;
  readonly isHttp10: boolean;
  /** Read at once, because a closed connection has no address. */
  readonly client: Client | null;
  /** The memory that the request occupies until its response is sent. */
  readonly held: HeldMemory;
  bodySha256: string | null = null;
  replyHeaders: readonly string[] = NO_HEADERS;
  /** `null` until the reply is decided. */
  completed: CompletedRequest | null = null;
  #upload: RequestUpload | null = null;
  #authenticated: Actor | null = null;
  #actorName: string | null = null;
  #interruption: HostError | null = null;
  /** Credentials that the host has obtained for the caller. */
  #secrets: readonly Secret[] = NO_SECRETS;
  /** Created with the first text that quotes a provider. */
  #mask: Mask | null = null;
  #headMs: number | null = null;
  readonly #options: RequestContextOptions;
  readonly #startedAt = performance.now();

  constructor(req: IncomingMessage, res: ServerResponse, options: RequestContextOptions) {
    this.req = req;
    this.res = res;
    this.method = req.method ?? '';
    this.target = req.url ?? '';
    const socket: Duplex = req.socket;
    this.inProcess = socket instanceof ConnectionEnd ? socket.caller : null;
    // A request in memory has no host name, which a module could own.
    const host = this.inProcess === null ? req.headers.host : undefined;
    this.parsed = parseCalledTarget(this.target, host, options.mounts);
    this.held = new HeldMemory(options.memory);
    this.headers = new CallerHeaders(req);
    const { requestId, correlationId } = createIds(this.headers);
    this.requestId = requestId;
    this.correlationId = correlationId;
    this.#options = options;
    // Most requests have no such header.
    this.handshake = req.headers.upgrade === undefined ? null : findHandshake(req);
    this.isHttp10 = req.httpVersion === '1.0';
    this.client = this.inProcess === null ? options.clients.find(req) : this.inProcess.client;
    this.facts.surface = this.inProcess?.surface ?? null;
    this.facts.mount = nameMount(this.parsed);
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

  get operation(): NamedOperation | null {
    return this.inProcess === null ? null : this.inProcess.operation;
  }

  get onProgress(): CallerRequest['onProgress'] {
    return this.inProcess === null ? null : this.inProcess.onProgress;
  }

  get hostRate(): RateStatus | null {
    return this.#options.authentication.actorRate?.status(this.actor) ?? null;
  }

  authenticate(
    isPublic: () => boolean = () => false,
    { authentication }: Pick<RequestContextOptions, 'authentication'> = this.#options,
  ): void | Promise<void> {
    const pending = authenticate(this, authentication, isPublic);
    return pending instanceof Promise ? rejectOnAbort(pending, this.signal) : pending;
  }

  /** Call it once. */
  authenticateAs(actor: Actor): void {
    this.#authenticated = actor;
    this.#actorName = nameActor(actor);
    if (actor.kind === 'anonymous') this.held.identifyAnonymous(nameShare(actor));
    else this.held.identify(this.#actorName);
  }

  /** Counts the memory of a request without an actor for the network of its client. */
  identifyClient(): void {
    this.held.identifyAnonymous(nameNetwork(this.client?.address ?? ''));
  }

  mask(text: string, isCut = false): string {
    const { credentialHeaders } = this.#options.authentication;
    this.#mask ??= createCredentialMask(this.req.rawHeaders, credentialHeaders, this.#secrets);
    const masked = this.#mask(text, isCut);
    return this.inProcess === null ? masked : this.inProcess.mask(masked, isCut);
  }

  addSecrets(secrets: readonly Secret[]): void {
    this.#secrets = [...this.#secrets, ...secrets];
    this.#mask = null;
  }

  /** Releases the memory of everything but the reply. */
  keepReply(bytes: number): void {
    this.held.keepOnly(Math.min(bytes, this.held.bytes));
  }

  /** @param tooLargeStatus the status for a longer body; default 400 */
  readBody(limit: number, tooLargeStatus?: number): Buffer | Promise<Buffer> {
    const { held, signal } = this;
    const timeoutMs = this.#options.bodyTimeoutMs;
    return readBody(this.req, this.res, { held, limit, timeoutMs, tooLargeStatus, signal });
  }

  openUpload(
    maxBytes: number,
    { limits, records }: Pick<Descriptor, 'limits' | 'records'>,
  ): RequestUpload | null {
    const { req, facts } = this;
    if (!announcesBody(req)) return null;
    if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw createLengthError(maxBytes);
    return this.#stream({ maxBytes, limits, facts, hasDigest: records.digests });
  }

  readOrStream(
    limits: Descriptor['limits'],
    createCheck: () => BodyCheck,
  ): Buffer | RequestUpload | Promise<Buffer | RequestUpload> {
    const { req, facts, held, signal } = this;
    const { hold_request_bytes: holdBytes, request_bytes: limit } = limits;
    const announced = Number(req.headers['content-length'] ?? 0);
    if (announced > limit) throw createLengthError(limit);
    const upload = { maxBytes: limit, limits, facts };
    if (announced > holdBytes) return this.#stream({ ...upload, check: createCheck() });
    const timeoutMs = this.#options.bodyTimeoutMs;
    const start = { held, limit, holdBytes, timeoutMs, signal };
    return takeArrived(req, start) ?? this.#readOrStream(start, upload, createCheck);
  }

  async #readOrStream(
    start: StartLimits,
    upload: ConstructorParameters<typeof RequestUpload>[2],
    createCheck: () => BodyCheck,
  ): Promise<Buffer | RequestUpload> {
    const { pieces, isWhole } = await readStart(this.req, this.res, start);
    if (isWhole) return joinPieces(pieces);
    const check = createCheck();
    await forEachInSlices(pieces.list, (piece) => {
      const problem = check.add(piece);
      if (problem !== null) throw problem;
    });
    return this.#stream({ ...upload, check, start: pieces.list });
  }

  /** @throws RejectedCall when its buffer exceeds a memory budget. */
  #stream(options: ConstructorParameters<typeof RequestUpload>[2]): RequestUpload {
    const rejection = this.held.reserve(UPLOAD_BUFFER_BYTES);
    if (rejection !== null) throw rejection;
    this.#upload = new RequestUpload(this.req, this.res, options);
    return this.#upload;
  }

  /** Whether the body is streamed, and so has separate limits. */
  get isStreaming(): boolean {
    return this.#upload?.isStarted === true;
  }

  /** Whether the connection closes with the response, because the rest of the body is not read. */
  get isLast(): boolean {
    return this.isStreaming && !this.req.complete;
  }

  /**
   * Marks that the head of a stream of events is sent; later time does not count for the duration
   * of the call.
   */
  markHead(): void {
    this.#headMs = performance.now() - this.#startedAt;
  }

  reauthenticate(): Promise<CurrentActor> {
    return reauthenticate(this, this.#options.authentication);
  }

  reject(problem: HostError): void {
    const { facts } = this;
    facts.rejection = problem;
    facts.step = problem.step ?? facts.step;
  }

  completeReply(reply: Reply): Reply {
    return this.#options.cors.complete(reply, this);
  }

  interrupt(problem: HostError): void {
    this.#interruption = problem;
    this.reject(problem);
    this.signal.abort(new ClientClosed());
  }

  /** Whether the rest of the body was rejected, so that the client already has a response. */
  get isInterrupted(): boolean {
    return this.#interruption !== null;
  }

  /** @param reply `null` when the client has closed the connection, or the request was interrupted */
  complete(reply: DecidedReply | null): CompletedRequest {
    const interruption = reply === null ? this.#interruption : null;
    if (reply === null && interruption === null) this.facts.failure = 'cancelled';
    if (this.facts.rejection === null) this.facts.step = null;
    this.completed = {
      requestId: this.requestId,
      correlationId: this.correlationId,
      actor: this.#actorName,
      actorKind: this.#authenticated?.kind ?? null,
      client: this.client?.address ?? null,
      scopes: this.#authenticated?.scopes ?? null,
      rejection: this.#describeRejection(reply, interruption),
      facts: this.facts,
      method: this.method,
      status: (reply ?? interruption)?.status ?? CLIENT_CLOSED_STATUS,
      bytesOut: reply === null || this.method === 'HEAD' ? 0 : reply.length,
      durationMs: performance.now() - this.#startedAt,
      headMs: this.#headMs,
      completedAt: Date.now(),
      call: null,
    };
    return this.completed;
  }

  #describeRejection(reply: DecidedReply | null, interruption: HostError | null): Rejection | null {
    const { rejection, preflightGap } = this.facts;
    const { authentication } = this.#options;
    if (preflightGap !== null) return describePreflight(preflightGap, this, authentication);
    // A closed connection is not a rejection.
    if (rejection === null || (reply ?? interruption) === null) return null;
    return describeRejection(rejection, this, authentication);
  }

  /** Records the length of a body that was unknown when the request was completed. */
  recordSent(bytesOut: number): void {
    if (this.completed === null) return;
    const durationMs = performance.now() - this.#startedAt;
    this.completed = { ...this.completed, bytesOut, durationMs, call: null };
  }
}

export interface HostState {
  request: RequestContext;
  /** The reply of a route of the host; the route sets it. */
  reply: Reply;
  /** Whether a surface has sent the response itself. */
  isSent?: boolean;
}

export type HostContext = ParameterizedContext<HostState>;
