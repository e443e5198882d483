import type { IncomingMessage } from 'node:http';
import type { koaBody as KoaBody } from 'koa-body';
import { assertBodyHeaders } from '../operations/forward/body-policy.js';
import { ClientClosed } from '../operations/request.js';
import type { HeldMemory } from '../provider/held-memory.js';
import { createLengthError, withStallTimeout } from './request/body.js';
import type { HostContext } from './request-context.js';

const MAX_BODY_BYTES = 1_048_576;
/** What koa-body needs for each part of a body, so that parts of one byte are counted as well. Bytes. */
const PART_BYTES = 32;

type Middleware = ReturnType<typeof KoaBody>;

let reader: Promise<Middleware> | null = null;

/**
 * Reads the body of a bridge request with koa-body. Bodies that koa-body would decompress or repair are
 * rejected before, and its 413 and 415 become 400.
 * @throws HostError 400, 408; RejectedCall; ClientClosed.
 */
export async function readBridgeBody(ctx: HostContext, timeoutMs: number): Promise<Buffer> {
  const { req, res } = ctx;
  const { held, headers } = ctx.state.request;
  assertBodyHeaders(headers);
  // Only `identity` is left, which koa-body accepts in lower case only.
  delete req.headers['content-encoding'];
  if (Number(req.headers['content-length']) > MAX_BODY_BYTES) {
    throw createLengthError(MAX_BODY_BYTES);
  }
  if (req.headers.expect !== undefined) res.writeContinue();
  reader ??= createReader();
  const read = await reader;
  // koa-body's type expects the context of an application without custom state.
  const reading = read(ctx as unknown as Parameters<Middleware>[0], async () => {});
  const counting = countParts(req, held);
  await withStallTimeout(req, timeoutMs, Promise.race([reading, counting]));
  const { body } = ctx.request as { body?: unknown };
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.alloc(0);
}

/** Rejects when the body exceeds a memory budget, and does not settle otherwise. */
function countParts(request: IncomingMessage, held: HeldMemory): Promise<never> {
  return new Promise((_, reject) => {
    const count = (part: Buffer) => {
      const rejection = held.hold(part.length + PART_BYTES);
      if (rejection === null) return;
      request.off('data', count);
      reject(rejection);
      // koa-body drops what it has read.
      request.emit('aborted');
    };
    request.on('data', count);
  });
}

/** Imported with the first request: koa-body loads more code than the rest of the host together. */
async function createReader(): Promise<Middleware> {
  const { koaBody } = await import('koa-body');
  return koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ['*/*'],
    textLimit: MAX_BODY_BYTES,
    // One character a byte, so that invalid UTF-8 is still visible to the check of the body.
    encoding: 'latin1',
    parsedMethods: ['POST'],
    onError: (error, ctx) => {
      // koa-body leaves the stream paused, and the connection would hang until its timeout.
      ctx.req.resume();
      throw translateReadError(error as Error & { type?: string });
    },
  } as Parameters<typeof KoaBody>[0]);
}

function translateReadError(error: Error & { type?: string }): Error {
  switch (error.type) {
    case 'entity.too.large':
      return createLengthError(MAX_BODY_BYTES, error);
    case 'request.aborted':
    case 'request.size.invalid':
    case 'stream.not.readable':
      return new ClientClosed();
    default:
      return error;
  }
}
