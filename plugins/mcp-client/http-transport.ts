import { Readable } from 'node:stream';
import type { FetchLike, ReconnectionScheduler } from '@modelcontextprotocol/client';
import {
  type BodyStream,
  type CallContext,
  isBodyStream,
  isProviderFailure,
  joinBody,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import {
  type CallTarget,
  type EndpointRequest,
  RestartBackoff,
  type SendRequest,
} from '../shared/transport.js';
import { EventReader, type ServerEvent } from './event-reader.js';
import {
  createTooLong,
  ENVELOPE_BYTES,
  Exchange,
  exchanges,
  OWN_RESPONSE_BYTES,
  parseMessage,
  parseMessages,
  readMember,
  writeMessage,
} from './exchange.js';

const MAX_ERROR_BYTES = 65_536;
/** An event stream may end after its response, so that the connection can be used again. */
const END_GRACE_MS = 250;
const END_GRACE_BYTES = 65_536;
/** Cancellations, responses to requests of the server, and the end of a session. */
const SIDE_TIMEOUT_MS = 5_000;
const MAX_SIDE_REQUESTS = 100;
const MAX_RESUMES = 3;
/** The longest pause before a stream is opened again that a server can ask for. */
export const MAX_RETRY_MS = 30_000;
/** The constructor of a response rejects a body for them. */
const EMPTY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);
const OLDER_TIMEOUT_MS = 2_000;

/** JSON-RPC codes of servers for an unknown session. */
const UNKNOWN_SESSION: ReadonlySet<unknown> = new Set([-32_000, -32_001]);

/** Headers of the call that describe its own body and response. */
const OWN_HEADERS = /^(?:accept|accept-.*|content-.*|if-.*|range|mcp-.*|last-event-id)$/;

/** Statuses of a server, or of a proxy in front of it, that is not there. */
const ABSENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const DENIED: ReadonlySet<number> = new Set([401, 403]);

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

interface Received extends Outcome {
  /** Ends the transfer of its body. */
  stop(): void;
}

/** For messages without a response of their own, and the stream of notifications. */
async function toPlainResponse(received: Received): Promise<Response> {
  const { status, headers, body } = received;
  if (isEventStream(headers) && EMPTY_STATUSES.has(status)) {
    received.stop();
    return new Response(null, { status, headers });
  }
  if (isEventStream(headers)) {
    const exchange = new Exchange({ maxResponseBytes: OWN_RESPONSE_BYTES });
    return createResponse(status, headers, readEvents(received, exchange));
  }
  return createResponse(status, headers, await readText(body, MAX_ERROR_BYTES));
}

/**
 * The server already has the call, so the host must not send it again.
 * @throws ProviderFailure unless the response continues the stream.
 */
function toResumedResponse(received: Received, exchange: Exchange): Response {
  const { status, headers, stop } = received;
  const isGood = status >= 200 && status <= 299;
  if (isGood && isEventStream(headers) && !EMPTY_STATUSES.has(status)) {
    return createResponse(status, headers, readEvents(received, exchange));
  }
  stop();
  if (!isGood) throw createStatusFailure(status);
  throw new ProviderFailure('protocol', 'the server resumed a call without an event stream', {
    phase: 'answered',
  });
}

async function toResponse(received: Received, exchange: Exchange): Promise<Response> {
  const { status, headers, body } = received;
  const { hasSession } = exchange;
  const { isHandshake, maxResponseBytes } = exchange.options;
  if (status >= 200 && status <= 299) {
    if (isEventStream(headers) && !EMPTY_STATUSES.has(status)) {
      return createResponse(status, headers, readEvents(received, exchange));
    }
    const text = await readText(body, maxResponseBytes, exchange);
    return createResponse(status, headers, acceptWhole(text, exchange));
  }
  const text = await readText(body, MAX_ERROR_BYTES);
  // The handshake decides by the status.
  if (isHandshake) return createResponse(status, headers, text);
  const answer = parseMessage(text);
  const code = readMember(answer?.error, 'code');
  const isAnswered = answer?.error !== undefined && exchange.isAnswered(answer);
  const isDenied = DENIED.has(status);
  const saysNothing = status < 400 || ABSENT.has(status);
  const isAnswer = isAnswered && !(isDenied && UNKNOWN_SESSION.has(code));
  if (hasSession && !saysNothing && !isAnswer)
    exchange.sessionDoubt = isDenied ? 'denied' : 'rejected';
  if (hasSession && (status === 404 || (status === 400 && UNKNOWN_SESSION.has(code)))) {
    exchange.isSessionLost = true;
    throw new ProviderFailure('unavailable', 'the server lost the session', {
      phase: 'connecting',
    });
  }
  if (!isAnswered) throw createStatusFailure(status);
  return createResponse(200, headers, acceptWhole(text, exchange));
}

/** A status without a message comes from something in front of the server. */
function createStatusFailure(status: number): ProviderFailure {
  const options = { status, phase: 'answered', detail: `HTTP status ${status}` } as const;
  if (ABSENT.has(status)) return new ProviderFailure('unavailable', 'no response', options);
  const failure = DENIED.has(status) ? 'refused' : 'protocol';
  return new ProviderFailure(failure, `the server answered with HTTP status ${status}`, options);
}

/**
 * @returns what the client gets
 * @throws ProviderFailure unless the text is the response.
 */
function acceptWhole(text: string, exchange: Exchange): string {
  const messages = parseMessages(text);
  exchange.count(0, messages.length);
  if (messages.length === 0) exchange.failAs('the server sent a body that is not JSON-RPC');
  const accepted = messages.flatMap((received) => exchange.accept(received) ?? []);
  if (exchange.answer === null) exchange.failAs('the server sent a body that is not the response');
  if (exchange.failure !== null) throw exchange.failure;
  return JSON.stringify(accepted);
}

async function* readEvents(
  { body, stop }: Received,
  exchange: Exchange,
): AsyncGenerator<string, void, undefined> {
  const reader = new EventReader(exchange.options.maxResponseBytes);
  let hasId = false;
  const iterator = listParts(body)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value: part } = await readPart(iterator);
      if (done === true) break;
      const events = reader.push(part);
      exchange.count(part.length, events.length);
      for (const { data, ...head } of events) {
        hasId ||= head.id !== undefined;
        const messages = parseMessages(data);
        if (messages.length > 1) exchange.count(0, messages.length);
        const accepted = messages.flatMap((received) => exchange.accept(received) ?? []);
        if (exchange.failure !== null) throw exchange.failure;
        const [first = '', ...others] = accepted.map((message) => JSON.stringify(message));
        yield formatEvent({ ...head, data: first });
        for (const other of others) yield formatEvent({ ...NO_HEAD, data: other });
      }
      if (exchange.failure !== null) throw exchange.failure;
      if (exchange.answer !== null) return await awaitEnd(iterator);
    }
  } catch (error) {
    // The library resumes a stream with ids.
    if (isProviderFailure(error) && (!hasId || error.failure === 'protocol')) exchange.fail(error);
    throw error;
  } finally {
    stop();
  }
  if (exchange.answer === null && !hasId) {
    exchange.fail(new ProviderFailure('protocol', 'the event stream ended without a response'));
  }
}

/** A connection that breaks within an event stream broke before the response. */
async function readPart(iterator: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await iterator.next();
  } catch (error) {
    const isCut = isProviderFailure(error) && error.failure === 'protocol';
    if (!isCut || error.phase !== 'responding') throw error;
    const { detail } = error;
    throw new ProviderFailure('unavailable', 'the event stream broke', { cause: error, detail });
  }
}

/** Waits a little for the end of a stream from which nothing more is needed. */
async function awaitEnd(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, END_GRACE_MS);
  });
  const drain = async () => {
    let bytes = 0;
    while (bytes <= END_GRACE_BYTES) {
      const { done, value } = await iterator.next();
      if (done === true) return;
      bytes += value.length;
    }
  };
  // A break is no failure any more.
  await Promise.race([drain().catch(() => {}), isLate]);
  clearTimeout(timer);
}

const NO_HEAD = { id: undefined, retryMs: undefined };

function formatEvent({ id, data, retryMs }: ServerEvent): string {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  const delay = retryMs === undefined ? '' : `retry: ${Math.min(retryMs, MAX_RETRY_MS)}\n`;
  return `${id === undefined ? '' : `id: ${id}\n`}${delay}${lines.join('')}\n`;
}

async function* listParts(body: Outcome['body']): BodyStream {
  if (body === null) return;
  if (isBodyStream(body)) yield* body;
  else yield joinBody(body);
}

/** @throws ProviderFailure for a longer body. */
async function readText(
  body: Outcome['body'],
  maxBytes: number,
  exchange?: Exchange,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of listParts(body)) {
    length += part.length;
    exchange?.count(part.length, 0);
    if (length > maxBytes + ENVELOPE_BYTES) throw createTooLong(maxBytes);
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

async function* encodeAll(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield Buffer.from(text);
}

function isEventStream(headers: Outcome['headers']): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

function createResponse(
  status: number,
  received: Outcome['headers'],
  body: string | AsyncIterable<string>,
): Response {
  // The library would follow redirects.
  const { location: _location, ...headers } = received;
  if (EMPTY_STATUSES.has(status)) return new Response(null, { status, headers });
  if (typeof body === 'string') return new Response(body, { status, headers });
  const bytes = Readable.toWeb(Readable.from(encodeAll(body)));
  return new Response(bytes as ReadableStream, { status, headers });
}
