import { Authorization } from './authorization.js';
import type { CallerRequest } from './request.js';

/** What an operation answers: always 200; anything else is a thrown HostError. */
export class Answer {
  /** The body, piece after piece: what a provider sent is not copied to stand between two others. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces. */
  readonly length: number;

  /** @param authorization that the caller may read this */
  constructor(authorization: Authorization, pieces: readonly Uint8Array[]) {
    Authorization.assert(authorization);
    this.pieces = pieces;
    let length = 0;
    for (const piece of pieces) length += piece.length;
    this.length = length;
  }

  /** @param authorization that the caller may read this */
  static ofText(authorization: Authorization, text: string): Answer {
    return new Answer(authorization, [Buffer.from(text)]);
  }
}

/** A handler class of the host: resolved through the container once, at boot. */
export interface Handler<Input> {
  execute(input: Input, request: CallerRequest): Promise<Answer>;
}
