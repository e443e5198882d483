import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type ExactValue, findMember } from './exact-json.js';

/** The only revision with batches; it also applies to a request that names no revision. */
export const BATCH_REVISION = '2025-03-26';

const MAX_MESSAGES = 20;

/**
 * Reads the messages of a batch.
 * @returns the messages, or the reason why the batch is rejected
 */
export function readBatch(
  { items }: Extract<ExactValue, { kind: 'array' }>,
  revision: string,
): readonly ExactValue[] | string {
  if (revision !== BATCH_REVISION) return `the revision ${revision} has no batches`;
  if (items.length === 0) return 'the batch has no message';
  if (items.length > MAX_MESSAGES) return `the batch has more than ${MAX_MESSAGES} messages`;
  if (items.some((item) => readText(item, 'method') === 'initialize')) {
    return 'the batch has the message initialize: send it alone';
  }
  return items;
}

function readText(message: ExactValue, name: string): string | null {
  const value = findMember(message, name);
  return value?.kind === 'string' ? value.value : null;
}

const ACCEPTED = 202;
/** The statuses for a request that cannot be answered, whatever its messages. */
const UNREADABLE: ReadonlySet<number> = new Set([406, 415]);
const EVENTS = 'text/event-stream';
const COMMENT = Buffer.from(': keepalive\n\n');
/** Shorter than the 15 s after which event streams of surfaces must send data. */
export const KEEP_ALIVE_MS = 10_000;

/**
 * Answers the messages one after the other, in one stream of events: each begins when the one
 * before is answered.
 * @param signal of the request
 * @param answer the response to one message
 */
export async function answerBatch(
  messages: readonly ExactValue[],
  signal: AbortSignal,
  answer: (message: ExactValue) => Promise<Response>,
): Promise<Response> {
  // The library adds a listener for each message.
  setMaxListeners(2 * MAX_MESSAGES, signal);
  const [first, ...others] = messages.map((message) => () => answer(message));
  if (first === undefined) throw new Error('a batch has a message');
  const response = await first();
  if (UNREADABLE.has(response.status)) return response;
  const events = writeEvents([async () => response, ...others]);
  // Notifications and responses have no answer. A request has an event soon, at least a comment.
  const { done, value } = await events.next();
  if (done) return new Response(null, { status: ACCEPTED });
  return createStream(startWith(value, events));
}

/**
 * Answers a message, with a stream of events if that takes long: the host limits the time until a
 * response, and the library waits for the result of a call of 2026-07-28.
 */
export async function answerOne(answering: Promise<Response>): Promise<Response> {
  const response = await waitBriefly(answering);
  return response ?? createStream(startWith(COMMENT, writeEvents([() => answering])));
}

/** Returns `null` if there is no response yet. */
async function waitBriefly(answering: Promise<Response>): Promise<Response | null> {
  const controller = new AbortController();
  const late = pause(KEEP_ALIVE_MS, null, controller).catch(() => null);
  try {
    return await Promise.race([answering, late]);
  } finally {
    controller.abort();
  }
}

function createStream(events: AsyncIterable<Uint8Array>): Response {
  return new Response(ReadableStream.from(events), { headers: { 'content-type': EVENTS } });
}

async function* writeEvents(
  answers: readonly (() => Promise<Response>)[],
): AsyncGenerator<Uint8Array, void> {
  for (const answer of answers) {
    const answering = answer();
    let response = await waitBriefly(answering);
    for (; response === null; response = await waitBriefly(answering)) yield COMMENT;
    if (response.body === null) continue;
    if (response.headers.get('content-type')?.startsWith(EVENTS)) yield* response.body;
    else yield Buffer.from(`event: message\ndata: ${await response.text()}\n\n`);
  }
}

async function* startWith<T>(first: T, others: AsyncIterable<T>): AsyncGenerator<T, void> {
  yield first;
  yield* others;
}
