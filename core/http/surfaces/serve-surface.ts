import type { IncomingMessage } from 'node:http';
import type { CredentialReason, SurfaceCall } from '../../contract/index.js';
import { HostError, PROBLEM_CODES, PROBLEMS } from '../../errors.js';
import { nameActor } from '../../lib/actor-name.js';
import { nameNetwork } from '../../lib/client-network.js';
import { assertSignedBody } from '../../operations/forward/body-policy.js';
import { type Authentication, authenticate, isAnonymous } from '../authenticate-request.js';
import { findOwnOrigin, isSameOrigin } from '../request/own-origin.js';
import type { RequestContext } from '../request-context.js';
import type { ReplyQueueOptions } from '../response/reply-queue.js';
import type { MountedSurface, SurfaceRequest } from './mounted-surface.js';
import { canAnnounceLength, listSurfaceHeaders, sendBody } from './send-response.js';
import { parseSurfaceUrl } from './surface-path.js';
import { assertSurfaceMethod, createWebRequest } from './web-request.js';

interface ServeOptions extends Omit<ReplyQueueOptions, 'log'> {
  readonly authentication: Authentication;
  /** `null` where none is configured. */
  readonly publicOrigin: string | null;
}

const EMPTY = Buffer.alloc(0);
/** The origin of the URL that a surface sees where the origin is not known. */
const UNKNOWN_ORIGIN = 'http://localhost';

/** What a surface has answered. */
interface SurfaceAnswer {
  readonly response: Response;
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
  { authentication, publicOrigin }: ServeOptions,
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
    await authenticate(request, authentication, () => false);
  }
  const controller = new AbortController();
  // Calls the listeners of the surface.
  const abort = (reason: unknown) => surface.run(() => controller.abort(reason));
  const { signal } = controller;
  request.signal.addEventListener('abort', { handleEvent: () => abort(request.signal.reason) });
  const call: SurfaceCall = {
    requestId: request.requestId,
    correlationId: request.correlationId,
    target: request.target,
    signal,
    actor: surface.addActor(request.authenticated, request.client),
    origin,
    isSameOrigin: isSameOrigin(req, origin),
    network: nameNetwork(request.client?.address ?? ''),
  };
  Object.freeze(call);
  const { credentialHeaders } = authentication;
  const known: SurfaceRequest = { client: request.client };
  const parts = { url, signal, credentialHeaders, hasOwnSignIn: isOwn };
  try {
    const head = createWebRequest(req, { ...parts, body: EMPTY });
    const actor = isOwn ? await surface.identify(head, call, known) : request.authenticated;
    if (actor === null) request.held.identifyAnonymous(call.network);
    else request.held.identify(nameActor(actor));
    const { maxBodyBytes } = surface;
    const limit = actor === null ? maxBodyBytes.anonymous : maxBodyBytes.actor;
    facts.step = 'body';
    const body = await request.readBody(limit, 413);
    facts.bytesIn = body.length;
    if (!isOwn) assertSignedBody(request, body.length === 0 ? null : body);
    facts.step = 'host';
    const web = body.length === 0 ? head : createWebRequest(req, { ...parts, body });
    const response = await surface.fetch(web, call, actor, known);
    if (response.status >= 400 && known.isExplained !== true) {
      request.reject(describeResponse(response));
    }
    return { response, abort };
  } catch (error) {
    abort(error);
    if (!(error instanceof HostError) || error.code !== 'unauthorized' || !isOwn) throw error;
    facts.token = known.rejected?.token ?? null;
    throw explainCredentials(error, known.rejected?.rejected ?? findCredentials(req));
  }
}

/** A response of the surface's own that is an error. Its body stays the surface's. */
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

function explainCredentials(error: HostError, reason: CredentialReason): HostError {
  const { code, detail, errors, nextActions, headers, cause } = error;
  return new HostError(code, detail, {
    ...{ errors, nextActions, headers, cause, reason },
    step: 'actor',
  });
}

/** Sends what a surface has answered; its body may still come. */
export function sendSurfaceResponse(
  surface: MountedSurface,
  request: RequestContext,
  { response, abort }: SurfaceAnswer,
  { lifecycle, sendTimeoutMs }: ServeOptions,
): void {
  const { res, method } = request;
  const hasBody = method !== 'HEAD' && response.body !== null;
  const hasLength = canAnnounceLength(response, method);
  if (!hasLength && response.status !== 204 && response.headers.has('content-length')) {
    surface.log.warn({ request_id: request.requestId }, 'surface response without its length');
  }
  // A length that is not that of the body would corrupt the connection.
  res.strictContentLength = hasBody && hasLength;
  const options = { ids: request, hasLength, isLast: lifecycle.isClosing };
  res.writeHead(response.status, listSurfaceHeaders(response, options));
  if (!hasBody || response.body === null) {
    void surface.run(() => response.body?.cancel())?.catch(() => {});
    res.end();
    return;
  }
  const sent = sendBody(res, response.body, {
    sendTimeoutMs,
    run: (work) => surface.run(work),
    onBuffered: (bytes) => request.held.keepOnly(bytes),
    onEnd: (bytes) => request.recordSent(bytes),
    onError: (error) =>
      surface.log.warn({ err: error, request_id: request.requestId }, 'surface response cut short'),
  });
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isEvents) return;
  // An event stream does not end by itself, and the client can continue it.
  const end = () => {
    sent.end();
    abort(new Error('the host is closing'));
  };
  const remove = surface.addStream(end);
  res.once('close', remove);
  // Before the first event: a browser counts a stream as open from its head.
  res.flushHeaders();
  if (lifecycle.isClosing) end();
}
