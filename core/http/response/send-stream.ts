import type { ServerResponse } from 'node:http';
import type { Reply, ReplyStream } from '../../operations/reply.js';
import type { HeldMemory } from '../../provider/held-memory.js';
import { UnreadBytes } from '../../provider/unread-bytes.js';
import type { RequestIds } from '../request/caller-headers.js';
import { listHeaders } from './reply-queue.js';

interface StreamedRequest extends RequestIds {
  readonly res: ServerResponse;
  readonly held: Pick<HeldMemory, 'beginSending' | 'keepOnly'>;
}

/**
 * Sends the head, and the body at the speed of the client. The caller ends the response, which
 * marks it as complete.
 * @param isLast whether the connection is closed after the response
 * @throws the failure of the body: the response must be destroyed if its head was sent.
 */
export async function sendStream(
  reply: Reply,
  stream: ReplyStream,
  request: StreamedRequest,
  isLast: boolean,
): Promise<void> {
  const { res, held } = request;
  const writeHead = () => {
    if (!res.headersSent) res.writeHead(reply.status, listHeaders(reply, request, isLast));
  };
  if (res.req.method === 'HEAD') return sendHead(reply, stream, request, isLast);
  // The head is sent with the first part, or soon without it.
  const flush = !stream.isHeadFirst
    ? undefined
    : setImmediate(() => {
        writeHead();
        // Unlike `flushHeaders`, it uses the encoding of headers.
        res.write('', 'latin1');
      });
  let cut: Error | null = null;
  let wake = () => {};
  const unread = new UnreadBytes({
    targets: [res],
    held,
    countHeld: () => stream.heldBytes,
    onRejected: (rejection) => {
      cut = stream.fail(rejection);
      wake();
    },
  });
  stream.onHold = () => unread.check();
  // A closed connection, or a body that failed while the client read nothing, ends the wait.
  stream.onEnd((failure) => {
    if (failure !== null && res.headersSent) res.destroy();
  });
  res.once('close', () => stream.close());
  held.beginSending();
  try {
    for (let part = await stream.read(); part !== null; part = await stream.read()) {
      writeHead();
      const isTaken = res.write(part, unread.onTaken);
      unread.check();
      if (!isTaken && !res.destroyed) {
        await untilRead(res, (resolve) => {
          wake = resolve;
        });
      }
      if (cut !== null) throw cut;
    }
    writeHead();
    // The client may still fall behind with the last parts.
    wake = () => res.destroy();
  } finally {
    clearImmediate(flush);
  }
}

/** Sends the length of the body, which is read completely and discarded. */
async function sendHead(
  reply: Reply,
  stream: ReplyStream,
  request: StreamedRequest,
  isLast: boolean,
): Promise<void> {
  const { res, held } = request;
  res.once('close', () => stream.close());
  held.keepOnly(0);
  while ((await stream.read()) !== null);
  const measured = { ...reply, contentLength: stream.bytes };
  res.writeHead(reply.status, listHeaders(measured, request, isLast));
}

/**
 * Resolves when the client has read everything, or has closed the connection.
 * @param onWait called with a function that ends the wait
 */
function untilRead(res: ServerResponse, onWait: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
    onWait(done);
  });
}
