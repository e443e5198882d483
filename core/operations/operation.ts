import { Decision } from './authorisation.js';
import type { CallerRequest } from './request.js';

/** What an operation answers: always 200; anything else is a thrown HostError. */
export class Answer {
  /** The body, piece after piece: what a provider sent is not copied to stand between two others. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces. */
  readonly length: number;

  /** @param decision that the caller may read this */
  constructor(decision: Decision, pieces: readonly Uint8Array[]) {
    Decision.require(decision);
    this.pieces = pieces;
    let length = 0;
    for (const piece of pieces) length += piece.length;
    this.length = length;
  }

  /** @param decision that the caller may read this */
  static ofText(decision: Decision, text: string): Answer {
    return new Answer(decision, [Buffer.from(text)]);
  }
}

/** A handler class of the host: resolved through the container once, at boot. */
export interface Operation<Input> {
  execute(input: Input, request: CallerRequest): Promise<Answer>;
}
