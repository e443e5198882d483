import type { koaBody as KoaBody } from 'koa-body';
import { HostError } from '../errors.js';
import { assertBodyHeaders } from '../operations/forward/body-policy.js';
import { ClientClosed } from '../operations/request.js';
import type { HostContext } from './request-context.js';

/** Contract 4: the body of a bridge request. */
const MAX_BODY_BYTES = 1_048_576;

type Middleware = ReturnType<typeof KoaBody>;

let reader: Promise<Middleware> | null = null;

/**
 * Reads the body as bytes. koa-body does the reading; what it would refuse in its own way (413, 415), inflate
 * or repair is refused before or translated after.
 * @throws HostError 400; CallerGone.
 */
export async function readBridgeBody(ctx: HostContext): Promise<Buffer> {
  assertBodyHeaders(ctx.state.exchange.headers);
  // Judged to be `identity`, which koa-body knows in lower case only.
  delete ctx.req.headers['content-encoding'];
  if (Number(ctx.req.headers['content-length']) > MAX_BODY_BYTES) throw tooLong();
  if (ctx.req.headers.expect !== undefined) ctx.res.writeContinue();
  reader ??= createReader();
  const read = await reader;
  // Its type wants the context of an application of its own.
  await read(ctx as unknown as Parameters<Middleware>[0], async () => {});
  const { body } = ctx.request as { body?: unknown };
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.alloc(0);
}

/** Imported with the first request: it brings more code than the rest of the host together. */
async function createReader(): Promise<Middleware> {
  const { koaBody } = await import('koa-body');
  return koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ['*/*'],
    textLimit: MAX_BODY_BYTES,
    // One character a byte: what is not UTF-8 can still be told from what is.
    encoding: 'latin1',
    parsedMethods: ['POST'],
    onError: (error, ctx) => {
      // Left paused, the rest would wait unread, and the connection with it, until it is cut.
      ctx.req.resume();
      throw translateReadError(error as Error & { type?: string });
    },
  } as Parameters<typeof KoaBody>[0]);
}

function translateReadError(error: Error & { type?: string }): Error {
  switch (error.type) {
    case 'entity.too.large':
      return tooLong(error);
    case 'request.aborted':
    case 'request.size.invalid':
    case 'stream.not.readable':
      return new ClientClosed();
    default:
      return error;
  }
}

function tooLong(cause?: Error): HostError {
  return new HostError('validation_failed', `the body is longer than ${MAX_BODY_BYTES} bytes`, {
    errors: [{ field: 'body', reason: `longer than ${MAX_BODY_BYTES} bytes` }],
    cause,
  });
}
