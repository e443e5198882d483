import type { Duplex } from 'node:stream';
import type { BodySink } from '../contract/index.js';
import { encodeInSlices } from '../lib/json/encode-in-slices.js';
import type { RejectedCall } from '../provider/rejected-call.js';
import { Authorization } from './authorization.js';
import type { CallerRequest } from './request.js';

export const JSON_TYPE = 'application/json';

/** Statuses without a body (RFC 9110, 6.4.1), and so without a length. */
export const BODILESS: ReadonlySet<number> = new Set([204, 304]);
const MIN_ERROR_STATUS = 400;
const NO_HEADERS: readonly string[] = [];

/** A body that is sent while it arrives. */
export interface ReplyStream {
  /** Whether it is a stream of events, whose call ends when its head is sent. */
  readonly isEvents: boolean;
  /** Whether the head is sent before the first part has arrived. */
  readonly isHeadFirst: boolean;
  /** The number of bytes that were passed on. */
  readonly bytes: number;
  /** The number of bytes that are held, without those that were read. */
  readonly heldBytes: number;
  /** Called when it holds more bytes, although nothing was read. */
  onHold: (() => void) | null;
  /**
   * Whether the connection is closed after the last part, so that no client considers the body
   * complete.
   */
  readonly isCut: boolean;
  /** Passes the body on, at the speed of the sink. */
  pipe(sink: BodySink): void;
  /** Continues after a part that the sink did not want more after. */
  resume(): void;
  /** Called with a part whose bytes were sent, or are copied: nobody else may read them. */
  reuse?(part: Uint8Array): void;
  /**
   * Called when no further part is wanted: the client has disconnected, or the response is not used.
   */
  close(): void;
  /** Ends the body at once, because its bytes exceed a memory budget. */
  reject(rejection: RejectedCall): void;
  /** The last part, which describes the problem; `null` if the connection is closed instead. */
  writeProblem(problem: readonly Uint8Array[]): Uint8Array | null;
}

/** The connection after a 101. */
export interface ReplyUpgrade {
  /**
   * Connects the client after the head was sent.
   * @returns the number of bytes that the client was sent, when the connection has ended
   */
  connect(client: Duplex): Promise<number>;
  /** Called when the client has disconnected before. */
  abandon(): void;
}

/** The parts of a response that depend on the provider. */
type ForwardedParts = Pick<
  Reply,
  'status' | 'pieces' | 'contentType' | 'headers' | 'cacheControl' | 'exposed'
> &
  Partial<Pick<Reply, 'contentLength' | 'stream'>>;

/**
 * A complete response that is not written yet. Without an authorization it can only be an error.
 */
export class Reply {
  readonly status: number;
  /** `null` for a reply without a body that has none. */
  readonly contentType: string | null;
  /** Default `no-store`. */
  readonly cacheControl?: string | undefined;
  /** Headers beyond those of every reply: names and values in turn. */
  readonly headers: readonly string[];
  /** Names of the provider's headers that pages of other origins may read. Default: none. */
  readonly exposed?: readonly string[] | undefined;
  /** The body in pieces, so that the provider's bytes need not be copied. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces. */
  readonly length: number;
  /** The length in the head; `null` if the length of a stream is unknown. */
  readonly contentLength: number | null;
  /** The body after the pieces, which is still arriving; `null` for a buffered body. */
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
   * Creates a 200.
   * @param authorization proves that the caller may read the body
   */
  static ok(
    authorization: Authorization,
    pieces: readonly Uint8Array[],
    contentType: string = JSON_TYPE,
  ): Reply {
    Authorization.assert(authorization);
    return new Reply(200, pieces, contentType, NO_HEADERS);
  }

  /**
   * Creates a response of a provider, or one that depends on it.
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
   * Creates a 101.
   * @param authorization proves that the caller may open the WebSocket
   */
  static upgraded(
    authorization: Authorization,
    { headers, upgrade }: { readonly headers: readonly string[]; readonly upgrade: ReplyUpgrade },
  ): Reply {
    Authorization.assert(authorization);
    return new Reply(101, [], null, headers, { upgrade });
  }

  static json(authorization: Authorization, value: object): Promise<Reply> {
    Authorization.assert(authorization);
    return encodeInSlices(value).then((pieces) => Reply.ok(authorization, pieces));
  }

  /** Creates a 204 that lists what pages of another origin may send; it contains no data. */
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

  /** Returns the same reply with these headers instead of its own. */
  static withHeaders(reply: Reply, headers: readonly string[]): Reply {
    return new Reply(reply.status, reply.pieces, reply.contentType, headers, reply);
  }
}

/** A class that handles one kind of request. The container builds it once, at startup. */
export interface Handler<Input> {
  execute(input: Input, request: CallerRequest): Promise<Reply>;
}
