import type { IncomingMessage } from 'node:http';
import type { HostError } from '../../errors.js';
import type { Reply } from '../../operations/reply.js';
import type { RequestIds } from '../request/caller-headers.js';

/** A request that is handled while its body arrives. */
export interface InterruptibleRequest extends RequestIds {
  /**
   * Ends the request after the rest of its body was rejected. The client has received the Problem.
   */
  interrupt(problem: HostError): void;
  /** Adds the headers without which a page cannot read the Problem. */
  completeReply(reply: Reply): Reply;
  /** Whether its body is streamed, which exempts it from the time limit of requests. */
  readonly isStreaming: boolean;
}

const requests = new WeakMap<IncomingMessage, InterruptibleRequest>();

/** Registers a request whose body may still be arriving. */
export function addInterruptible(req: IncomingMessage, request: InterruptibleRequest): void {
  if (!req.complete) requests.set(req, request);
}

/** Returns `null` for a request that is not handled yet. */
export function findInterruptible(req: IncomingMessage): InterruptibleRequest | null {
  return requests.get(req) ?? null;
}
