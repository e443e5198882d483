import type { BodySink } from '../../../contract/index.js';
import { MarkFilter } from '../../../lib/byte-order-mark.js';
import { type InvalidJson, JsonCheck } from '../../../lib/json/json-check.js';
import { findLastByte, isEndOfValue } from '../../../lib/json/value-end.js';
import type { LiveModule } from '../../../modules/live-module.js';
import { type CheckedOutcome, holdBody, readLength } from '../../../provider/outcome.js';
import type { RejectedCall } from '../../../provider/rejected-call.js';
import type { ResponseStream } from '../../../provider/response-stream.js';
import { JSON_TYPE, Reply, type ReplyStream } from '../../reply.js';
import { type ExposedHeaders, exposeHeaders } from '../exposed-headers.js';
import {
  type BodyProblem,
  createProtocolFailure,
  describeProblem,
  findHeaderProblem,
  UNKNOWN_LENGTH,
} from '../provider-response.js';
import { followBody } from '../watch-right.js';
import { envelopeForm, splitEnvelope } from './envelope.js';
import { isForwardedJson, rawForm } from './raw.js';
import type { ForwardedResponse, ResponseForm } from './response-form.js';

interface StreamedJson extends ForwardedResponse {
  readonly status: number;
  readonly contentType: string | null;
  /** It fails if the body is not JSON. */
  readonly source: ResponseStream;
  readonly exposed: ExposedHeaders;
}

/** The form of buffered JSON. */
export function heldFormOf({ descriptor }: LiveModule): ResponseForm {
  return descriptor.responses.mode === 'raw' ? rawForm : envelopeForm;
}

/** JSON that exceeds the buffer; it is sent while it is validated. */
export const jsonForm: ResponseForm<StreamedJson> = {
  /** A schema needs the complete body. */
  fits({ schemas }, { descriptor: { limits }, client }) {
    return limits.hold_bytes < limits.response_bytes && client.streams && !schemas?.output;
  },

  stream: (_route, { descriptor: { limits } }) => ({
    maxBytes: limits.response_bytes,
    holdBytes: limits.hold_bytes,
  }),

  read(call, outcome, endpoint, operation) {
    const { module } = call.matched;
    const { limits, responses } = module.descriptor;
    const { status, headers, stream: source } = outcome;
    const heldForm = heldFormOf(module);
    if (source === null) return heldForm.read(call, outcome, endpoint, operation);
    if ((readLength(headers) ?? 0) > limits.response_bytes) {
      const problem = `over ${limits.response_bytes} bytes`;
      throw createProtocolFailure(outcome, problem, problem);
    }
    const isSuccess = status >= 200 && status < 300;
    const foreign = findHeaderProblem(outcome);
    if (isSuccess && foreign !== null) {
      throw createProtocolFailure(outcome, foreign.state, foreign.detail);
    }
    const isRaw = responses.mode === 'raw';
    if (isRaw ? !isForwardedJson(outcome) : !isSuccess) {
      return holdBody(outcome, limits.response_bytes).then((held) =>
        heldForm.read(call, held, endpoint, operation),
      );
    }
    checkWhileRead(source, outcome);
    return {
      form: jsonForm,
      status: isRaw ? status : 200,
      contentType: isRaw ? (headers['content-type'] ?? null) : null,
      source,
      exposed: exposeHeaders(call, outcome, endpoint.base),
    };
  },

  reply(call, { status, contentType, source, exposed }) {
    const { authorization, matched } = call;
    followBody(call, source);
    const isRaw = matched.module.descriptor.responses.mode === 'raw';
    const stream = new JsonStream(source, isRaw ? null : splitEnvelope(matched));
    return Reply.forwarded(authorization, {
      ...{ status, pieces: [], contentType: contentType ?? JSON_TYPE, contentLength: null, stream },
      ...exposed,
    });
  },
};

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
class JsonStream implements ReplyStream, BodySink {
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
