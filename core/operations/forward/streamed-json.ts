import { JsonCheck } from '../../lib/json/json-check.js';
import { type CheckedOutcome, holdBody, readLength } from '../../provider/outcome.js';
import type { ParseResponse } from '../../provider/provider-call.js';
import type { ResponseStream } from '../../provider/response-stream.js';
import type { ReplyStream } from '../reply.js';
import type { CallerRequest } from '../request.js';
import type { ExposedHeaders, ExposeHeaders } from './exposed-headers.js';
import { createProtocolFailure, describeProblem, findHeaderProblem } from './provider-response.js';
import { isPassedJson } from './raw-response.js';
import type { FoundRoute } from './route-call.js';

/** What callers get of a JSON response that is longer than it may be held. */
export interface StreamedJson {
  readonly mode: 'json';
  readonly status: number;
  readonly contentType: string | null;
  /** It fails where the body is not JSON. */
  readonly source: ResponseStream;
  /** `null` where the descriptor exposes none. */
  readonly exposed: ExposedHeaders | null;
}

/**
 * How much of a JSON response is held before it is streamed; `null` where all of it is. A client of HTTP/1.0 cannot
 * see that a body is cut, and a schema needs the whole body.
 */
export function holdBytesOf(
  { module, match }: FoundRoute,
  { isHttp10 }: Pick<CallerRequest, 'isHttp10'>,
): number | null {
  const { hold_bytes, response_bytes } = module.descriptor.limits;
  if (hold_bytes >= response_bytes) return null;
  const { responseBytes, stream, schemas } = match.value;
  if (responseBytes !== null || stream !== null || schemas?.output) return null;
  return module.client.streams && !isHttp10 ? hold_bytes : null;
}

/**
 * How JSON responses are read that may be longer than they are held.
 * @param readHeld reads a response that is held, or has to be
 * @param expose `null` where the descriptor exposes no headers
 */
export function createJsonReader<Held>(
  { module: { descriptor } }: FoundRoute,
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
      throw createProtocolFailure(outcome, foreign.what, foreign.detail);
    }
    if (isRaw ? !isPassedJson(outcome) : !isSuccess) {
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

/** The stream fails at the first byte that cannot be there, or at its end. */
function checkWhileRead(source: ResponseStream, outcome: CheckedOutcome): void {
  const check = new JsonCheck();
  const fail = (invalid: ReturnType<JsonCheck['end']>) => {
    if (invalid === null) return;
    const { what, detail } = describeProblem(invalid);
    throw createProtocolFailure(outcome, what, detail);
  };
  source.onChunk = (chunk) => fail(check.add(chunk));
  source.onLast = () => fail(check.end());
}

/** A body that is checked while it is sent, with the envelope around it. */
export class JsonStream implements ReplyStream {
  readonly isEvents = false;
  /** A body that is bad from its start is a Problem. */
  readonly isHeadFirst = false;
  readonly heldBytes = 0;
  /** Its failure is thrown. */
  readonly isCut = false;
  bytes = 0;
  readonly #source: ResponseStream;
  #opening: Uint8Array | null;
  #first: Uint8Array | null = null;
  #closing: Uint8Array | null;

  /** @param envelope `null` for a body that is passed on without one */
  constructor(
    source: ResponseStream,
    envelope: { readonly opening: Uint8Array; readonly closing: Uint8Array } | null,
  ) {
    this.#source = source;
    this.#opening = envelope?.opening ?? null;
    this.#closing = envelope?.closing ?? null;
  }

  /** The end of the envelope comes last: it is what makes the body whole. */
  async read(): Promise<Uint8Array | null> {
    const part = await this.#next();
    if (part !== null) this.bytes += part.length;
    return part;
  }

  onEnd(listener: (failure: Error | null) => void): void {
    this.#source.onEnd(listener);
  }

  close(): void {
    this.#source.close();
  }

  /** Clients would take it for a part of the body. */
  writeProblem(): null {
    return null;
  }

  async #next(): Promise<Uint8Array | null> {
    const first = this.#first;
    this.#first = null;
    if (first !== null) return first;
    const part = await this.#source.read();
    const opening = this.#opening;
    this.#opening = null;
    if (opening !== null) {
      this.#first = part;
      return opening;
    }
    if (part !== null) return part;
    const closing = this.#closing;
    this.#closing = null;
    return closing;
  }
}
