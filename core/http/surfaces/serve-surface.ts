import type { SurfaceCall } from '../../contract/index.js';
import { assertSignedBody } from '../../operations/forward/signed-body.js';
import { type Authentication, authenticate, isAnonymous } from '../authenticate-request.js';
import { findOwnOrigin, isSameOrigin } from '../request/own-origin.js';
import type { RequestContext } from '../request-context.js';
import type { ReplyQueueOptions } from '../response/reply-queue.js';
import type { MountedSurface } from './mounted-surface.js';
import { canAnnounceLength, listSurfaceHeaders, sendBody } from './send-response.js';
import { parseSurfaceUrl } from './surface-path.js';
import { assertSurfaceMethod, createWebRequest } from './web-request.js';

interface ServeOptions extends Omit<ReplyQueueOptions, 'log'> {
  readonly authentication: Authentication;
  /** `null` where none is configured. */
  readonly publicOrigin: string | null;
}

const MAX_BODY_BYTES = 1_048_576;
/** Of the URL that a surface sees where the origin is not known. */
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
  facts.isForSurface = true;
  facts.route = surface.prefix;
  const origin = findOwnOrigin(req, publicOrigin);
  const url = parseSurfaceUrl(request.target, origin ?? UNKNOWN_ORIGIN);
  assertSurfaceMethod(request.method);
  const isOwn = surface.authentication === 'own';
  if (!isOwn && !isAnonymous(request, authentication)) {
    await authenticate(request, authentication);
  }
  const body = await request.readBody(MAX_BODY_BYTES, 413);
  facts.bytesIn = body.length;
  if (!isOwn) assertSignedBody(request, body.length === 0 ? null : body);
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
    actor: surface.addActor(request.authenticated),
    origin,
    isSameOrigin: isSameOrigin(req, origin),
  };
  const web = createWebRequest(req, { url, body, signal, hidesCredentials: !isOwn });
  try {
    return {
      response: await surface.fetch(web, Object.freeze(call), req.socket.remoteAddress),
      abort,
    };
  } catch (error) {
    abort(error);
    throw error;
  }
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
