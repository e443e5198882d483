import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { HostError } from '../errors.js';
import { hasBody } from './request/body.js';
import type { HostContext, HostState } from './request-context.js';

/**
 * Ends a request whose body stands still: 408 when nothing of it has come for `timeoutMs`. Only while the
 * host wants it; that the whole request comes in time is the server's to see to.
 */
export function createBodyTimeout(timeoutMs: number): Middleware<HostState> {
  return (ctx, next) => (hasBody(ctx.req) ? runWatched(ctx, next, timeoutMs) : next());
}

async function runWatched(
  { req: request }: HostContext,
  next: () => Promise<unknown>,
  timeoutMs: number,
): Promise<unknown> {
  const running = next();
  // A body that came with its head is parsed by then, and needs no timer.
  await null;
  return request.complete ? running : watchProgress(request, running, timeoutMs);
}

async function watchProgress(
  request: IncomingMessage,
  running: Promise<unknown>,
  timeoutMs: number,
): Promise<void> {
  let received = request.socket.bytesRead;
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      if (request.complete) return;
      const { bytesRead } = request.socket;
      if (request.readableFlowing === true && bytesRead === received)
        reject(createStall(timeoutMs));
      received = bytesRead;
      timer?.refresh();
    }, timeoutMs);
  });
  try {
    await Promise.race([running, stalled]);
  } finally {
    clearTimeout(timer);
  }
}

function createStall(timeoutMs: number): HostError {
  return new HostError('validation_failed', 'the body did not arrive in time', {
    status: 408,
    errors: [{ field: 'body', reason: `nothing of it came for ${timeoutMs} ms` }],
    headers: { connection: 'close' },
  });
}
