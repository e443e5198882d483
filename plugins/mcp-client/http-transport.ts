import type { FetchLike, ReconnectionScheduler } from '@modelcontextprotocol/client';
import { type CallContext, isProviderFailure, ProviderFailure } from '../../core/contract/index.js';
import {
  type CallTarget,
  type EndpointRequest,
  RestartBackoff,
  type SendRequest,
} from '../shared/transport.js';
import { Exchange, exchanges, writeMessage } from './exchange.js';
import {
  isEventStream,
  listParts,
  MAX_ERROR_BYTES,
  toPlainResponse,
  toResponse,
  toResumedResponse,
} from './read-response.js';

/** Cancellations, responses to requests of the server, and the end of a session. */
const SIDE_TIMEOUT_MS = 5_000;
const MAX_SIDE_REQUESTS = 100;
const MAX_RESUMES = 3;
const OLDER_TIMEOUT_MS = 2_000;

/** Headers of the call that describe its own body and response. */
const OWN_HEADERS = /^(?:accept|accept-.*|content-.*|if-.*|range|mcp-.*|last-event-id)$/;

export interface FetchOptions {
  readonly target: CallTarget;
  readonly send: SendRequest;
  /** The call whose credentials requests beside calls carry, such as those of a handshake. */
  readonly readContext: () => CallContext | undefined;
}

/**
 * The `fetch` of the client library: requests have the credentials and connections of the module, and
 * responses are checked and bounded before the library parses them.
 */
export function createFetch(options: FetchOptions): FetchLike {
  const side = { requests: 0 };
  return async (url, init = {}) => {
    const call = exchanges.getStore();
    const message = init.body === undefined ? null : JSON.parse(String(init.body));
    const isRequest = message !== null && message.method !== undefined && message.id !== undefined;
    const exchange = isRequest ? beginRequest(call, message) : call;
    const isStanding = init.method === 'GET' && isOfNotifications(call, init);
    const isResumed = init.method === 'GET' && !isStanding;
    // Cancellations and responses to the server are sent although the call may have ended.
    const isOwn = isRequest || isResumed;
    const context = exchange?.options.context ?? options.readContext();
    const request = {
      ...createRequest(new URL(url), init, exchange, message),
      ...(context !== undefined && { context }),
    };
    // Beside calls, everything but the stream of notifications has a deadline of its own.
    const isSide = !isOwn && !isStanding;
    // Stops a response of which nothing more is needed.
    const rest = new AbortController();
    const signals = [init.signal ?? null, isOwn ? exchange?.signal : null, rest.signal];
    const signal = AbortSignal.any(signals.filter((entry) => entry instanceof AbortSignal));
    if (isSide && side.requests >= MAX_SIDE_REQUESTS) throw new Error('too many side requests');
    if (isSide) side.requests += 1;
    const timer = isSide ? setTimeout(() => rest.abort(createLate()), SIDE_TIMEOUT_MS) : undefined;
    try {
      if (isResumed) countResume(exchange);
      const hasSession = request.headers['mcp-session-id'] !== undefined;
      if (isRequest && exchange !== undefined)
        Object.assign(exchange, { isSent: true, hasSession });
      const limits = { maxResponseBytes: Number.MAX_SAFE_INTEGER, holdBytes: 0, signal };
      const outcome = await options.send(options.target, request, limits);
      const received = { ...outcome, stop: () => rest.abort() };
      exchange?.secrets.push(...(outcome.secrets ?? []));
      if (!isOwn || exchange === undefined) return await toPlainResponse(received);
      if (isResumed) return toResumedResponse(received, exchange);
      return await toResponse(received, exchange);
    } catch (error) {
      if (isOwn && isProviderFailure(error)) {
        exchange?.fail(error);
        call?.fail(error);
      }
      throw error;
    } finally {
      clearTimeout(timer);
      if (isSide) side.requests -= 1;
    }
  };
}

function createLate(): ProviderFailure {
  return new ProviderFailure('timeout', `no response within ${SIDE_TIMEOUT_MS} ms`);
}

/** Whether a GET opens the stream of notifications, and not that of a call again. */
function isOfNotifications(call: Exchange | undefined, { headers }: RequestInit): boolean {
  return call === undefined || call.hasEnded || !new Headers(headers).has('last-event-id');
}

/**
 * Says when a transport opens a broken stream again: that of a call when the server asks for it, that of notifications
 * with backoff, since a server may end it all the time.
 */
export function createReconnection(): ReconnectionScheduler {
  const backoff = new RestartBackoff();
  let openedAt = performance.now();
  return (reconnect, delayMs) => {
    const isStanding = exchanges.getStore()?.hasEnded === true;
    const pauseMs = isStanding ? backoff.next(performance.now() - openedAt) : 0;
    const open = () => {
      if (isStanding) openedAt = performance.now();
      reconnect();
    };
    const timer = setTimeout(open, Math.max(delayMs, pauseMs)).unref();
    return () => clearTimeout(timer);
  };
}

/**
 * Whether the server has only the transport HTTP+SSE of 2024-11-05, which answers a GET with an event that names
 * another address.
 */
export async function speaksOlderTransport(
  { pathname, search }: URL,
  { target, send, readContext }: FetchOptions,
): Promise<boolean> {
  const signal = AbortSignal.timeout(OLDER_TIMEOUT_MS);
  const headers = { accept: 'text/event-stream', 'accept-encoding': 'identity' };
  const context = readContext();
  const request: EndpointRequest = {
    method: 'GET',
    target: pathname + search,
    headers,
    body: null,
    ...(context !== undefined && { context }),
  };
  const limits = { maxResponseBytes: MAX_ERROR_BYTES, holdBytes: 0, signal };
  try {
    const outcome = await send(target, request, limits);
    if (!isEventStream(outcome.headers)) return false;
    for await (const part of listParts(outcome.body)) {
      return /^event: ?endpoint$/m.test(Buffer.from(part).toString());
    }
  } catch {
    // It is no server of any transport.
  }
  return false;
}

/** A handshake has several requests. */
function beginRequest(
  call: Exchange | undefined,
  { id }: { readonly id: unknown },
): Exchange | undefined {
  if (call?.options.isHandshake !== true) {
    call?.begin(id);
    return call;
  }
  const exchange = new Exchange(call.options);
  exchange.signal.addEventListener('abort', () => call.fail(exchange.signal.reason));
  exchange.begin(id);
  return exchange;
}

function createRequest(
  url: URL,
  init: RequestInit,
  exchange: Exchange | undefined,
  message: object | null,
): EndpointRequest {
  const { headers: callHeaders = {} } = exchange?.options ?? {};
  const passed = Object.entries(callHeaders).filter(([name]) => !OWN_HEADERS.test(name));
  return {
    method: (init.method ?? 'GET') as EndpointRequest['method'],
    target: url.pathname + url.search,
    headers: {
      ...Object.fromEntries(passed),
      'accept-encoding': 'identity',
      ...Object.fromEntries(new Headers(init.headers)),
    },
    body: message === null ? null : Buffer.from(writeMessage(message, exchange)),
  };
}

/** @throws ProviderFailure after three attempts. */
function countResume(exchange: Exchange | undefined): void {
  if (exchange === undefined) return;
  exchange.resumes += 1;
  if (exchange.resumes <= MAX_RESUMES) return;
  throw new ProviderFailure('protocol', 'the event stream broke, and could not be resumed');
}
