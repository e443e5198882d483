import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import type { koaBody as KoaBody } from 'koa-body';
import type { BodyPieces } from '../contract/body-pieces.js';
import { HostError } from '../errors.js';
import { measureJson } from '../lib/json/json-check.js';
import { assertBodyHeaders, assertJson } from '../operations/forward/body-policy.js';
import { ClientClosed } from '../operations/request.js';
import type { HeldMemory } from '../provider/held-memory.js';
import { createLengthError, readStart, withStallTimeout } from './request/body.js';
import { sendContinue } from './request/send-continue.js';
import type { HostContext } from './request-context.js';

/** The longest body that koa-body reads. */
export const MAX_BODY_BYTES = 1_048_576;
/** Bounds the CPU time of a body of 1 MiB, which can have half a million values. */
const MAX_BODY_VALUES = 20_000;
/**
 * The overhead of koa-body for each part of a body, so that parts of one byte are counted as well.
 * Bytes.
 */
const PART_BYTES = 32;

type Middleware = ReturnType<typeof KoaBody>;

/** Keyed by the maximum length; there are few. */
const readers = new Map<number, Promise<Middleware>>();

/**
 * Reads the JSON body of a request to the host with koa-body. Bodies that koa-body would decompress
 * or repair are rejected first, and its 413 becomes 400. The values are counted before any of them
 * is parsed.
 * @throws HostError 400, 408; RejectedCall; ClientClosed.
 */
export async function readHostBody(
  ctx: HostContext,
  timeoutMs: number,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<Buffer> {
  const { req, res } = ctx;
  const { held, headers, signal } = ctx.state.request;
  assertBodyHeaders(headers);
  if (Number(req.headers['content-length']) > maxBytes) throw createLengthError(maxBytes);
  sendContinue(req, res);
  const reader = readers.get(maxBytes) ?? createReader(maxBytes);
  readers.set(maxBytes, reader);
  const read = await reader;
  if (signal.aborted) throw new ClientClosed();
  const counted: typeof ctx = Object.create(ctx, { req: { value: countBody(req, held) } });
  // koa-body's type expects the context of an application without custom state.
  const reading = read(counted as unknown as Parameters<Middleware>[0], async () => {});
  try {
    await withStallTimeout(req, timeoutMs, reading);
  } finally {
    // With an unread body, the connection would hang until its timeout.
    req.unpipe().resume();
  }
  const { body } = ctx.request as { body?: unknown };
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.alloc(0);
  assertJson(bytes);
  assertFewValues(bytes);
  return bytes;
}

function assertFewValues(body: Buffer): void {
  if (measureJson(body).values <= MAX_BODY_VALUES) return;
  throw new HostError('validation_failed', `the body has more than ${MAX_BODY_VALUES} values`, {
    errors: [{ field: 'body', reason: `more than ${MAX_BODY_VALUES} values` }],
    nextActions: ['send fewer values in one request'],
  });
}

/**
 * Reads a long body in pieces: koa-body would join them, which holds up other requests.
 * @throws as `readHostBody`.
 */
export async function readLongHostBody(
  { req, res, state: { request } }: HostContext,
  timeoutMs: number,
  maxBytes: number,
): Promise<BodyPieces> {
  const { held, headers, signal } = request;
  assertBodyHeaders(headers);
  return (await readStart(req, res, { held, signal, timeoutMs, limit: maxBytes })).pieces;
}

/**
 * Counts every part of a body before koa-body reads it, and removes its coding: only `identity` is
 * left, which koa-body accepts in lower case only.
 */
function countBody(request: IncomingMessage, held: HeldMemory): Transform {
  const counted = new Transform({
    transform: (part: Buffer, _encoding, done) => {
      done(held.reserve(part.length + PART_BYTES), part);
    },
  });
  // `pipeline` would close the connection, which the rejection still needs.
  request.once('close', () => {
    if (!request.complete) counted.destroy(new ClientClosed());
  });
  return Object.assign(request.pipe(counted), { headers: {} });
}

/** Imported with the first request: koa-body loads more code than the rest of the host. */
async function createReader(maxBytes: number): Promise<Middleware> {
  const { koaBody } = await import('koa-body');
  return koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ['*/*'],
    textLimit: maxBytes,
    // One character per byte, so that the check of the body still detects invalid UTF-8. Of the
    // names of this encoding, it is the one that Node decodes: 1.5 ms for 1 MiB instead of 5 ms.
    encoding: 'binary',
    parsedMethods: ['POST'],
    onError: (error) => {
      const { type } = error as { type?: string };
      throw type === 'entity.too.large' ? createLengthError(maxBytes, error) : error;
    },
  } as Parameters<typeof KoaBody>[0]);
}
