import type { BodySink } from '../../contract/index.js';
import { MarkFilter } from '../../lib/byte-order-mark.js';
import { type InvalidJson, JsonCheck } from '../../lib/json/json-check.js';
import { findLastByte, isEndOfValue } from '../../lib/json/value-end.js';
import { type CheckedOutcome, holdBody, readLength } from '../../provider/outcome.js';
import type { ParseResponse } from '../../provider/provider-call.js';
import type { RejectedCall } from '../../provider/rejected-call.js';
import type { ResponseStream } from '../../provider/response-stream.js';
import type { ReplyStream } from '../reply.js';
import type { ExposedHeaders, ExposeHeaders } from './exposed-headers.js';
import {
  type BodyProblem,
  createProtocolFailure,
  describeProblem,
  findHeaderProblem,
  UNKNOWN_LENGTH,
} from './provider-response.js';
import { isForwardedJson } from './raw-response.js';
import type { MatchedRoute } from './route-call.js';

/** A JSON response for callers that exceeds the buffer. */
export interface StreamedJson {
  readonly mode: 'json';
  readonly status: number;
  readonly contentType: string | null;
  /** It fails if the body is not JSON. */
  readonly source: ResponseStream;
  /** `null` if the descriptor exposes none. */
  readonly exposed: ExposedHeaders | null;
}

/**
 * Creates a reader of JSON responses that may exceed the buffer.
 * @param readHeld reads a buffered response
 * @param expose `null` if the descriptor exposes no headers
 */
export function createJsonReader<Held>(
  { module: { descriptor } }: MatchedRoute,
  readHeld: ParseResponse<Held>,
  expose: ExposeHeaders | null,
): ParseResponse<StreamedJson | Held> {
  const { limits, responses } = descriptor;
  const isRaw = responses.mode === 'raw';
  return (outcome, endpoint, operation) => {
    const { status, headers, stream: source } = outcome;
    if (source === null) return readHeld(outcome, endpoint, operation);
    if ((readLength(headers) ?? 0) > limits.response_bytes) {
      const problem = `over ${limits.response_bytes} bytes`;
      throw createProtocolFailure(outcome, problem, problem);
    }
    const isSuccess = status >= 200 && status < 300;
    const foreign = findHeaderProblem(outcome);
    if (isSuccess && foreign !== null) {
      throw createProtocolFailure(outcome, foreign.state, foreign.detail);
    }
    if (isRaw ? !isForwardedJson(outcome) : !isSuccess) {
      return holdBody(outcome, limits.response_bytes).then((held) =>
        readHeld(held, endpoint, operation),
      );
    }
    checkWhileRead(source, outcome);
    return {
      mode: 'json',
      status: isRaw ? status : 200,
      contentType: isRaw ? (headers['content-type'] ?? null) : null,
      source,
      exposed: expose?.(outcome, endpoint.base) ?? null,
    };
  };
}

/** The stream fails at the first invalid byte, or at its end. */
function checkWhileRead(source: ResponseStream, outcome: CheckedOutcome): void {
  const check = new JsonCheck();
  let last: number | null = null;
  const fail = ({ state, detail }: BodyProblem) => {
    throw createProtocolFailure(outcome, state, detail);
  };
  const assertValid = (invalid: InvalidJson | null) => invalid && fail(describeProblem(invalid));
  source.onChunk = (chunk) => {
    assertValid(check.add(chunk));
    last = findLastByte(chunk) ?? last;
  };
  source.onLast = () => {
    assertValid(check.end());
    if (!outcome.isDelimited && !isEndOfValue(last)) fail(UNKNOWN_LENGTH);
  };
}

/** A body with its envelope that is validated while it is sent. */
export class JsonStream implements ReplyStream, BodySink {
  readonly isEvents = false;
  /** A body that is invalid from its start becomes a Problem. */
  readonly isHeadFirst = false;
  onHold = null;
  /** Its failure reaches the sink. */
  readonly isCut = false;
  bytes = 0;
  readonly #source: ResponseStream;
  #sink: BodySink | null = null;
  #opening: Uint8Array | null;
  readonly #mark: MarkFilter | null;
  readonly #closing: Uint8Array | null;

  /** @param envelope `null` for a body that is forwarded without one */
  constructor(
    source: ResponseStream,
    envelope: { readonly opening: Uint8Array; readonly closing: Uint8Array } | null,
  ) {
    this.#source = source;
    this.#opening = envelope?.opening ?? null;
    this.#closing = envelope?.closing ?? null;
    this.#mark = envelope === null ? null : new MarkFilter();
  }

  get heldBytes(): number {
    return this.#source.heldBytes;
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    this.#source.pipe(this);
  }

  resume(): void {
    this.#source.resume();
  }

  reuse(part: Uint8Array): void {
    this.#source.reuse(part);
  }

  close(): void {
    this.#source.close();
  }

  reject(rejection: RejectedCall): void {
    this.#source.reject(rejection);
  }

  /** Returns `null`, because clients would treat it as a part of the body. */
  writeProblem(): null {
    return null;
  }

  /** Receives a part of the body. The envelope has no byte-order mark. */
  write(part: Uint8Array): boolean {
    const kept = this.#mark === null ? part : this.#mark.pass(part);
    if (kept.length === 0) return true;
    this.#open();
    return this.#send(kept);
  }

  end(): void {
    this.#open();
    if (this.#closing !== null) this.#send(this.#closing);
    this.#sink?.end();
  }

  fail(error: unknown): void {
    this.#sink?.fail(error);
  }

  #open(): void {
    if (this.#opening !== null) this.#send(this.#opening);
    this.#opening = null;
  }

  #send(part: Uint8Array): boolean {
    this.bytes += part.length;
    return this.#sink?.write(part) === true;
  }
}
