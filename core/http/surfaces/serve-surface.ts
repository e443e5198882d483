import type { IncomingMessage } from 'node:http';
import type { Actor, CredentialReason, SurfaceCall } from '../../contract/index.js';
import { HostError, PROBLEM_CODES, PROBLEMS } from '../../errors.js';
import { nameActor } from '../../lib/actor-name.js';
import { nameNetwork } from '../../lib/client-network.js';
import { readMediaType } from '../../lib/media-type.js';
import type { Mask } from '../../lib/secrets/mask-secrets.js';
import { hasLostScope, isSameActor } from '../../operations/authorization.js';
import { assertSignedBody } from '../../operations/forward/body-policy.js';
import type { CurrentActor } from '../../operations/request.js';
import { rights, type Standing } from '../../operations/right-watch.js';
import { type Authentication, isAnonymous } from '../authenticate-request.js';
import type { Cors } from '../cors.js';
import { findOwnOrigin, isSameOrigin } from '../request/own-origin.js';
import type { RequestContext } from '../request-context.js';
import { closeWithHost, type ReplyQueueOptions } from '../response/reply-queue.js';
import type { MountedSurface } from './mounted-surface.js';
import { STREAM_HEADER } from './own-headers.js';
import { canAnnounceLength, listSurfaceHeaders, sendBody } from './send-response.js';
import { parseSurfaceUrl } from './surface-path.js';
import type { SurfaceRequest } from './surface-services.js';
import { assertBodyHead, assertSurfaceMethod, createWebRequest } from './web-request.js';

interface ServeOptions extends Omit<ReplyQueueOptions, 'log'> {
  readonly authentication: Authentication;
  readonly cors: Pick<Cors, 'addHeaders' | 'isFromListedPage'>;
  /** `null` without one. */
  readonly publicOrigin: string | null;
}

const EMPTY = Buffer.alloc(0);
const UNKNOWN_ORIGIN = 'http://localhost';

/** The right under which a response is sent. */
interface SurfaceRight {
  readonly actor: Actor;
  readonly reauthenticate: () => Promise<CurrentActor>;
  /** Asks the surface for the caller again; `null` unless it has its own sign-in. */
  readonly reidentify: (() => Promise<unknown>) | null;
}

interface SurfaceAnswer {
  readonly response: Response;
  /** `null` for a caller without credentials. */
  readonly right: SurfaceRight | null;
  /** Aborts the signal of the call. */
  abort(reason: unknown): void;
}

/**
 * Calls a surface.
 * @throws HostError 400, 401, 404, 405, 408, 413, 429, 500, 503.
 */
export async function callSurface(
  surface: MountedSurface,
  request: RequestContext,
  { authentication, publicOrigin, cors }: ServeOptions,
): Promise<SurfaceAnswer> {
  const { req, facts } = request;
  facts.surface = surface.name;
  facts.kind = 'surface';
  facts.route = surface.prefix;
  const origin = findOwnOrigin(req, publicOrigin);
  const url = parseSurfaceUrl(request.target, origin ?? UNKNOWN_ORIGIN);
  assertSurfaceMethod(request.method);
  const isOwn = surface.authentication === 'own';
  if (!isOwn && !isAnonymous(request, authentication)) {
    facts.step = 'actor';
    await request.authenticate(() => false, { authentication });
    facts.step = 'host';
  }
  const controller = new AbortController();
  // Runs as the surface, because it calls its listeners.
  const abort = (reason: unknown) => surface.run(() => controller.abort(reason));
  const { signal } = controller;
  request.signal.addEventListener('abort', { handleEvent: () => abort(request.signal.reason) });
  const mask: Mask = (text, isCut) => request.mask(text, isCut);
  const reauthenticate = () => request.reauthenticate();
  const call: SurfaceCall = {
    requestId: request.requestId,
    correlationId: request.correlationId,
    target: request.target,
    signal,
    actor: surface.addActor(request.authenticated, request.client, reauthenticate, mask),
    origin,
    isSameOrigin: isSameOrigin(req, origin),
    isListedOrigin: cors.isFromListedPage(request),
    network: nameNetwork(request.client?.address ?? ''),
  };
  Object.freeze(call);
  const { credentialHeaders } = authentication;
  const record: SurfaceRequest = { client: request.client, mask };
  const parts = { url, signal, credentialHeaders, hasOwnSignIn: isOwn };
  try {
    const head = createWebRequest(req, { ...parts, body: EMPTY });
    const actor = await surface.admit(head, call, record);
    if (actor === null) request.held.identifyAnonymous(call.network, true);
    else request.held.identify(nameActor(actor));
    const { maxBodyBytes } = surface;
    const limit = actor === null ? maxBodyBytes.anonymous : maxBodyBytes.actor;
    facts.step = 'body';
    assertBodyHead(req, limit);
    const body = await request.readBody(limit, 413);
    facts.bytesIn = body.length;
    if (!isOwn) await assertSignedBody(request, body.length === 0 ? null : body);
    facts.step = 'host';
    const web = body.length === 0 ? head : createWebRequest(req, { ...parts, body });
    const response = await surface.fetch(web, call, actor, record);
    assertRoom(surface, request, response);
    if (response.status >= 400 && record.isExplained !== true) {
      request.reject(describeResponse(response));
    }
    const reidentify = isOwn ? () => surface.identify(head, { ...call }, { ...record }) : null;
    const right = actor && {
      actor,
      reidentify,
      reauthenticate: record.reauthenticate ?? reauthenticate,
    };
    return { response, right, abort };
  } catch (error) {
    abort(error);
    if (!(error instanceof HostError) || error.code !== 'unauthorized' || !isOwn) throw error;
    facts.token = record.rejected?.token ?? null;
    const { rejected: reason = findCredentials(req), detail: reasonDetail = null } =
      record.rejected ?? {};
    throw explainCredentials(error, { reason, reasonDetail });
  }
}

/** @throws RejectedCall for a body that would be cut as soon as the client falls behind. */
function assertRoom(surface: MountedSurface, { held }: RequestContext, response: Response): void {
  const rejection = response.body === null ? null : held.checkRoom();
  if (rejection === null) return;
  surface.discard(response);
  throw rejection;
}

/** Describes an error response of the surface. Its body stays the surface's. */
function describeResponse({ status }: Response): HostError {
  const code = PROBLEM_CODES.find((name) => PROBLEMS[name].status === status);
  const otherwise = status < 500 ? 'validation_failed' : 'internal_error';
  return new HostError(code ?? otherwise, `the surface responded with ${status}`, {
    reason: 'surface',
  });
}

function findCredentials({ headers }: IncomingMessage): CredentialReason {
  return headers.authorization === undefined && headers.cookie === undefined
    ? 'missing'
    : 'unknown';
}

function explainCredentials(
  error: HostError,
  rejected: { readonly reason: CredentialReason; readonly reasonDetail: string | null },
): HostError {
  const { code, detail, errors, nextActions, headers, cause } = error;
  return new HostError(code, detail, {
    ...{ errors, nextActions, headers, cause, ...rejected },
    step: 'actor',
  });
}

/** Sends the response of a surface, whose body may still arrive. */
export function sendSurfaceResponse(
  surface: MountedSurface,
  request: RequestContext,
  { response, right, abort }: SurfaceAnswer,
  { lifecycle, sendTimeoutMs, cors }: ServeOptions,
): void {
  const { res, method } = request;
  const hasBody = method !== 'HEAD' && response.body !== null;
  const hasLength = canAnnounceLength(response, method);
  if (!hasLength && response.status !== 204 && response.headers.has('content-length')) {
    surface.log.warn({ request_id: request.requestId }, 'surface response without its length');
  }
  // A wrong length would corrupt the connection.
  res.strictContentLength = hasBody && hasLength;
  const isEvents =
    readMediaType(response.headers.get('content-type') ?? '') === 'text/event-stream';
  const options = { ids: request, hasLength, isEvents, isLast: lifecycle.isClosing };
  const head = cors.addHeaders(listSurfaceHeaders(response, options), request);
  res.writeHead(response.status, [...head]);
  if (!hasBody || response.body === null) {
    void surface.run(() => response.body?.cancel())?.catch(() => {});
    res.end();
    return;
  }
  closeWithHost(res, lifecycle);
  const sent = sendBody(res, response.body, {
    sendTimeoutMs,
    run: (work) => surface.run(work),
    held: request.held,
    onEnd: (bytes) => request.recordSent(bytes),
    onError: (error) =>
      surface.log.warn({ err: error, request_id: request.requestId }, 'surface response cut short'),
  });
  if (right !== null) {
    const onLost = () => {
      const error = new Error('the right of the caller was withdrawn');
      request.facts.stream_end = 'unauthorized';
      if (isEvents) sent.end();
      else sent.cut(error);
      abort(error);
    };
    res.once('close', watchSurfaceRight(right, isEvents, onLost));
  }
  if (!isEvents) return;
  // Sent before the first event, because browsers open a stream at its head.
  res.flushHeaders();
  if (response.headers.get(STREAM_HEADER) === 'call') return;
  // It does not end by itself; the client can resume it.
  const end = () => {
    sent.end();
    abort(new Error('the host is closing'));
  };
  const remove = surface.addStream(end);
  res.once('close', remove);
  if (lifecycle.isClosing) end();
}

/**
 * A surface with its own sign-in ends its event streams with their sessions itself: asked for the
 * session again, it would prolong it.
 * @returns a function that ends the checks
 */
function watchSurfaceRight(
  { actor, reidentify, reauthenticate }: SurfaceRight,
  isEvents: boolean,
  onLost: () => void,
): () => void {
  const verify = async (): Promise<Standing> => {
    const current = await reauthenticate();
    if (current === 'expired') return 'expired';
    if (current === null || !isSameActor(current, actor)) return 'withdrawn';
    if (hasLostScope(current, actor)) return 'withdrawn';
    return isEvents || reidentify === null || (await reidentify()) !== null ? 'held' : 'withdrawn';
  };
  return rights.add({ verify, expiresAt: actor.expiresAt, endsWithCredential: isEvents, onLost });
}
