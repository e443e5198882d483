import type { CallerRequest } from './caller-request.js';
import { Decision } from './decision.js';

/** What an operation answers: always 200; anything else is a thrown HostError. */
export class Answer {
  readonly body: Buffer;

  /** @param decision that the caller may read this */
  constructor(decision: Decision, body: Buffer) {
    Decision.require(decision);
    this.body = body;
  }
}

/** A handler class of the host: resolved through the container once, at boot. */
export interface Operation<Input> {
  execute(input: Input, request: CallerRequest): Promise<Answer>;
}
