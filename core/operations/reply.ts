import { Authorization } from './authorization.js';
import type { CallerRequest } from './request.js';

export const JSON_TYPE = 'application/json';

const MIN_ERROR_STATUS = 400;
const NO_HEADERS: readonly string[] = [];

/** A complete response that is not written yet. Without an authorization it can only be an error. */
export class Reply {
  readonly status: number;
  readonly contentType: string;
  /** Headers beyond those of every reply: names and values in turn. */
  readonly headers: readonly string[];
  /** The body in pieces, so that the provider's bytes need not be copied. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces. */
  readonly length: number;

  private constructor(
    status: number,
    pieces: readonly Uint8Array[],
    contentType: string,
    headers: readonly string[],
  ) {
    this.status = status;
    this.contentType = contentType;
    this.headers = headers;
    this.pieces = pieces;
    let length = 0;
    for (const piece of pieces) length += piece.length;
    this.length = length;
  }

  /**
   * A 200.
   * @param authorization proves that the caller may read the body
   */
  static ok(
    authorization: Authorization,
    pieces: readonly Uint8Array[],
    contentType: string = JSON_TYPE,
    headers: readonly string[] = NO_HEADERS,
  ): Reply {
    Authorization.assert(authorization);
    return new Reply(200, pieces, contentType, headers);
  }

  /** A 200 with a value as JSON. */
  static json(authorization: Authorization, value: unknown): Reply {
    return Reply.ok(authorization, [Buffer.from(JSON.stringify(value))]);
  }

  static error(
    status: number,
    text: string,
    contentType: string,
    headers: readonly string[],
  ): Reply {
    if (status < MIN_ERROR_STATUS) throw new Error(`a reply with ${status} needs an authorization`);
    return new Reply(status, [Buffer.from(text)], contentType, headers);
  }
}

/** A class that handles one kind of request. The container builds it once, at start. */
export interface Handler<Input> {
  execute(input: Input, request: CallerRequest): Promise<Reply>;
}
