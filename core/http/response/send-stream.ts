import type { ServerResponse } from 'node:http';
import type { Reply, ReplyStream } from '../../operations/reply.js';
import type { HeldMemory } from '../../provider/held-memory.js';
import type { RequestIds } from '../request/caller-headers.js';
import { listHeaders } from './reply-queue.js';

interface StreamedRequest extends RequestIds {
  readonly res: ServerResponse;
  readonly held: Pick<HeldMemory, 'beginSending' | 'keepOnly'>;
}

/** A reply whose body has still to arrive. */
export type StreamedReply = Reply & { readonly stream: ReplyStream };

/**
 * Sends the head, and the body as fast as the client reads it. The response is not ended: an end is what makes it
 * whole.
 * @param isLast whether the connection is closed after the response
 * @throws what is wrong with the body: the response must be destroyed once its head was sent.
 */
export async function sendStream(
  reply: StreamedReply,
  request: StreamedRequest,
  isLast: boolean,
): Promise<void> {
  const { res, held } = request;
  const { stream } = reply;
  const writeHead = () => {
    if (!res.headersSent) res.writeHead(reply.status, listHeaders(reply, request, isLast));
  };
  if (res.req.method === 'HEAD') return sendHead(reply, request, isLast);
  // The head goes out with the first part, or soon if that is not there yet.
  const flush = !stream.isHeadFirst
    ? undefined
    : setImmediate(() => {
        writeHead();
        // Unlike `flushHeaders`, in the encoding of headers.
        res.write('', 'latin1');
      });
  // A client that has gone, or a body that failed while the client read nothing, ends the wait for it.
  stream.onEnd((failure) => {
    if (failure !== null && res.headersSent) res.destroy();
  });
  res.once('close', () => stream.close());
  held.beginSending();
  try {
    for (let part = await stream.read(); part !== null; part = await stream.read()) {
      writeHead();
      const isTaken = res.write(part);
      held.keepOnly(res.writableLength + stream.heldBytes);
      if (!isTaken && !res.destroyed) await untilRead(res);
    }
    writeHead();
  } finally {
    clearImmediate(flush);
  }
}

/** Sends the length of the body, which is read to its end and dropped. */
async function sendHead(
  reply: StreamedReply,
  request: StreamedRequest,
  isLast: boolean,
): Promise<void> {
  const { res, held } = request;
  const { stream } = reply;
  res.once('close', () => stream.close());
  held.keepOnly(0);
  while ((await stream.read()) !== null);
  const measured = { ...reply, contentLength: stream.bytes };
  res.writeHead(reply.status, listHeaders(measured, request, isLast));
}

/** Resolves when the client has read what was sent, or has gone. */
function untilRead(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
}
