import type { ServerResponse } from 'node:http';
import type { Log } from '../../contract/index.js';
import { BatchQueue } from '../../lib/batch-queue.js';
import type { RequestIds } from '../request/ids.js';
import { type Reply, writeReply } from './reply.js';
import { setSendTimeout } from './send-timeout.js';

/** A decided answer and whom it is for. */
interface WaitingReply {
  readonly response: ServerResponse;
  readonly reply: Reply;
  readonly ids: RequestIds;
}

export interface ReplyQueueOptions {
  readonly log: Log;
  /**
   * Whether connections are to be closed. Asked when a reply is written: a request in flight when the drain
   * began closes its connection too.
   */
  readonly isClosing: () => boolean;
  /** How long a caller may take nothing of an answer that does not leave at once. Milliseconds. */
  readonly answerTimeoutMs: number;
}

/**
 * Writes together the replies that are decided together, as those are whose answers from providers were
 * handed on together. One that is written by itself wakes a caller who sleeps, which costs the kernel more than to
 * write it: of those that follow at once the caller is awake.
 */
export class ReplyQueue {
  readonly #log: Log;
  readonly #isClosing: () => boolean;
  readonly #answerTimeoutMs: number;
  readonly #waiting = new BatchQueue<WaitingReply>(
    (waiting) => this.#write(waiting),
    process.nextTick,
  );

  constructor({ log, isClosing, answerTimeoutMs }: ReplyQueueOptions) {
    this.#log = log;
    this.#isClosing = isClosing;
    this.#answerTimeoutMs = answerTimeoutMs;
  }

  add(response: ServerResponse, reply: Reply, ids: RequestIds): void {
    const waiting = { response, reply, ids };
    // A caller who is still sending is answered at once: what comes next may end the connection.
    if (response.req.complete) this.#waiting.add(waiting);
    else this.#write(waiting);
  }

  #write({ response, reply, ids }: WaitingReply): void {
    try {
      writeReply(response, reply, ids, this.#isClosing());
      setSendTimeout(response, this.#answerTimeoutMs);
    } catch (error) {
      this.#log.error({ err: error, request_id: ids.requestId }, 'a reply could not be written');
      response.destroy();
    }
  }
}
