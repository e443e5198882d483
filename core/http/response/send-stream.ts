import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { BodySink } from '../../contract/index.js';
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
export function sendStream(
  reply: Reply,
  stream: ReplyStream,
  request: StreamedRequest,
  isLast: boolean,
): Promise<void> {
  const { res } = request;
  const writeHead = (measured: Reply) => {
    if (!res.headersSent) res.writeHead(reply.status, listHeaders(measured, request, isLast));
  };
  res.on('close', () => stream.close());
  return new Promise((resolve, reject) => {
    const end = { resolve, reject };
    if (res.req.method === 'HEAD') {
      request.held.keepOnly(0);
      stream.pipe(
        new LengthSender(stream, end, (contentLength) => writeHead({ ...reply, contentLength })),
      );
    } else stream.pipe(new BodySender(stream, request, end, () => writeHead(reply)));
  });
}

interface BodyEnd {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Sends a body to a client. */
class BodySender implements BodySink {
  readonly #res: ServerResponse;
  readonly #end: BodyEnd;
  readonly #writeHead: () => void;
  readonly #unread: UnreadBytes;
  readonly #stream: ReplyStream;
  /** The parts that the system has not taken yet; `null` for a reader that may keep them. */
  readonly #sending: Uint8Array[] | null;
  #isPaused = false;
  #isOver = false;

  constructor(
    stream: ReplyStream,
    { res, held }: StreamedRequest,
    end: BodyEnd,
    writeHead: () => void,
  ) {
    this.#res = res;
    this.#end = end;
    this.#writeHead = writeHead;
    this.#stream = stream;
    // A connection in memory passes the bytes themselves on.
    this.#sending = stream.reuse !== undefined && res.socket instanceof Socket ? [] : null;
    this.#unread = new UnreadBytes({
      targets: [res],
      held,
      countHeld: () => stream.heldBytes,
      onRejected: (rejection) => {
        // The client may still fall behind with the last parts.
        if (this.#isOver) res.destroy();
        else stream.reject(rejection);
      },
    });
    stream.onHold = () => this.#unread.check();
    if (stream.isHeadFirst) {
      // Sends the head if no part follows soon.
      setImmediate(() => {
        if (!this.#isOver) this.#sendHead();
      });
    }
    res.on('drain', () => {
      if (!this.#isPaused) return;
      this.#isPaused = false;
      stream.resume();
    });
    held.beginSending();
  }

  write(part: Uint8Array): boolean {
    const res = this.#res;
    this.#writeHead();
    this.#sending?.push(part);
    this.#isPaused = !res.write(part, this.#onTaken);
    this.#unread.check();
    return !this.#isPaused;
  }

  readonly #onTaken = (error?: Error | null): void => {
    this.#unread.onTaken();
    const part = this.#sending?.shift();
    if (part !== undefined && error == null) this.#stream.reuse?.(part);
  };

  end(): void {
    this.#writeHead();
    this.#isOver = true;
    this.#end.resolve();
  }

  fail(error: unknown): void {
    this.#isOver = true;
    // The call of events has ended with its head.
    if (this.#stream.isEvents) this.#sendHead();
    // The connection is closed next: what was written in this turn leaves before.
    if (this.#res.headersSent) setImmediate(this.#end.reject, error);
    else this.#end.reject(error);
  }

  #sendHead(): void {
    this.#writeHead();
    // Unlike `flushHeaders`, it uses the encoding of headers.
    this.#res.write('', 'latin1');
  }
}

/** Sends the length of a body, which is received completely and discarded. */
class LengthSender implements BodySink {
  readonly #stream: ReplyStream;
  readonly #end: BodyEnd;
  readonly #writeHead: (length: number) => void;

  constructor(stream: ReplyStream, end: BodyEnd, writeHead: (length: number) => void) {
    this.#stream = stream;
    this.#end = end;
    this.#writeHead = writeHead;
  }

  write(): boolean {
    return true;
  }

  end(): void {
    this.#writeHead(this.#stream.bytes);
    this.#end.resolve();
  }

  fail(error: unknown): void {
    this.#end.reject(error);
  }
}
