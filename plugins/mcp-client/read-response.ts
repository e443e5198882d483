import { Readable } from 'node:stream';
import {
  type BodyStream,
  isBodyStream,
  isProviderFailure,
  joinBody,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { EventReader, type ServerEvent } from './event-reader.js';
import {
  createTooLong,
  ENVELOPE_BYTES,
  Exchange,
  OWN_RESPONSE_BYTES,
  parseMessage,
  parseMessages,
  readMember,
} from './exchange.js';

export const MAX_ERROR_BYTES = 65_536;
/** An event stream may end after its response, so that the connection can be used again. */
const END_GRACE_MS = 250;
const END_GRACE_BYTES = 65_536;
/** The longest pause before a stream is opened again that a server can ask for. */
export const MAX_RETRY_MS = 30_000;
/** The constructor of a response rejects a body for them. */
const EMPTY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);
/** JSON-RPC codes of servers for an unknown session. */
const UNKNOWN_SESSION: ReadonlySet<unknown> = new Set([-32_000, -32_001]);
/** Statuses of a server, or of a proxy in front of it, that is not there. */
const ABSENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const DENIED: ReadonlySet<number> = new Set([401, 403]);

interface Received extends Outcome {
  /** Ends the transfer of its body. */
  stop(): void;
}

/** For messages without a response of their own, and the stream of notifications. */
export async function toPlainResponse(received: Received): Promise<Response> {
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
export function toResumedResponse(received: Received, exchange: Exchange): Response {
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

export async function toResponse(received: Received, exchange: Exchange): Promise<Response> {
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

export async function* listParts(body: Outcome['body']): BodyStream {
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

export function isEventStream(headers: Outcome['headers']): boolean {
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
