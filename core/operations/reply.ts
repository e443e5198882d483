import type { Duplex } from 'node:stream';
import { Authorization } from './authorization.js';
import type { CallerRequest } from './request.js';

export const JSON_TYPE = 'application/json';

/** HTTP allows them no body (RFC 9110, 6.4.1), and so no length. */
export const BODILESS: ReadonlySet<number> = new Set([204, 304]);
const MIN_ERROR_STATUS = 400;
const NO_HEADERS: readonly string[] = [];

/** A body that arrives while it is sent. */
export interface ReplyStream {
  /** Whether it is a stream of events, which is no call any more once its head was sent. */
  readonly isEvents: boolean;
  /** Whether the head is sent before the first part is there. */
  readonly isHeadFirst: boolean;
  /** Bytes that were handed on. */
  readonly bytes: number;
  /** Bytes that are held back. */
  readonly heldBytes: number;
  /** Whether the connection is closed after the last part, so that no client takes the body for whole. */
  readonly isCut: boolean;
  /**
   * The next part; `null` at the end.
   * @throws what is wrong with the body.
   */
  read(): Promise<Uint8Array | null>;
  /** @param listener called with a failure where nothing more can be handed on */
  onEnd(listener: (failure: Error | null) => void): void;
  /** Nobody reads on: the client has gone, or the response is not used. */
  close(): void;
  /** The last part, which says what is wrong; `null` where the connection is closed instead. */
  writeProblem(problem: readonly Uint8Array[]): Uint8Array | null;
}

/** What follows a 101. */
export interface ReplyUpgrade {
  /**
   * Takes the connection of the client, once the head was sent.
   * @returns how many bytes the client was sent, when the connection has ended
   */
  connect(client: Duplex): Promise<number>;
  /** The client has gone before. */
  abandon(): void;
}

/** The parts of a response that a provider decides about. */
type ForwardedParts = Pick<
  Reply,
  'status' | 'pieces' | 'contentType' | 'headers' | 'cacheControl' | 'exposed'
> &
  Partial<Pick<Reply, 'contentLength' | 'stream'>>;

/** A complete response that is not written yet. Without an authorization it can only be an error. */
export class Reply {
  readonly status: number;
  /** `null` for a reply without a body that has none. */
  readonly contentType: string | null;
  /** Default `no-store`. */
  readonly cacheControl?: string | undefined;
  /** Headers beyond those of every reply: names and values in turn. */
  readonly headers: readonly string[];
  /** Names of headers of the provider that pages of other origins may read. Default: none. */
  readonly exposed?: readonly string[] | undefined;
  /** The body in pieces, so that the provider's bytes need not be copied. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces. */
  readonly length: number;
  /** What the head says; `null` where the length of a stream is not known. */
  readonly contentLength: number | null;
  /** The body after the pieces, which has still to arrive; `null` for a body that is held. */
  readonly stream: ReplyStream | null;
  /** The upgrade of a 101; `null` for any other response. */
  readonly upgrade: ReplyUpgrade | null;

  private constructor(
    status: number,
    pieces: readonly Uint8Array[],
    contentType: string | null,
    headers: readonly string[],
    more: Partial<
      Pick<Reply, 'cacheControl' | 'exposed' | 'contentLength' | 'stream' | 'upgrade'>
    > = {},
  ) {
    this.status = status;
    this.contentType = contentType;
    this.cacheControl = more.cacheControl;
    this.exposed = more.exposed;
    this.headers = headers;
    this.pieces = pieces;
    let length = 0;
    for (const piece of pieces) length += piece.length;
    this.length = length;
    this.contentLength = more.contentLength === undefined ? length : more.contentLength;
    this.stream = more.stream ?? null;
    this.upgrade = more.upgrade ?? null;
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

  /**
   * A response of a provider, or one that depends on it.
   * @param authorization proves that the caller may read the body
   */
  static forwarded(
    authorization: Authorization,
    { status, pieces, contentType, headers, ...more }: ForwardedParts,
  ): Reply {
    Authorization.assert(authorization);
    return new Reply(status, pieces, contentType, headers, more);
  }

  /**
   * A 101.
   * @param authorization proves that the caller may open the WebSocket
   */
  static upgraded(
    authorization: Authorization,
    { headers, upgrade }: { readonly headers: readonly string[]; readonly upgrade: ReplyUpgrade },
  ): Reply {
    Authorization.assert(authorization);
    return new Reply(101, [], null, headers, { upgrade });
  }

  /** A 200 with a value as JSON. */
  static json(authorization: Authorization, value: unknown): Reply {
    return Reply.ok(authorization, [Buffer.from(JSON.stringify(value))]);
  }

  /** A 204: what pages of another origin may send; it holds no data. */
  static preflight(headers: readonly string[]): Reply {
    return new Reply(204, [], null, headers);
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

  /** The same reply with these headers instead of its own. */
  static withHeaders(reply: Reply, headers: readonly string[]): Reply {
    return new Reply(reply.status, reply.pieces, reply.contentType, headers, reply);
  }
}

/** A class that handles one kind of request. The container builds it once, at start. */
export interface Handler<Input> {
  execute(input: Input, request: CallerRequest): Promise<Reply>;
}
