import type { CallerRequest } from './caller-request.js';

/** What an operation answers: always 200, always JSON bytes; anything else is a thrown HostError. */
export type AnswerBody = Buffer;

/** A handler class of the host: resolved through the container once, at boot. */
export interface Operation<Input> {
  execute(input: Input, request: CallerRequest): Promise<AnswerBody>;
}
