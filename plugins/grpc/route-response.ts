import { type FileRegistry, fromBinary, type Message, toJson } from '@bufbuild/protobuf';
import {
  BodyPieces,
  isProviderFailure,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { streamOf } from '../shared/transport.js';
import type { BoundRoute } from './bound-route.js';
import { findTooMany } from './count-values.js';
import { createTooLarge } from './frames.js';
import type { GrpcCall } from './grpc-call.js';
import { addResponseHeaders } from './metadata.js';
import { toErrorOutcome, toFailure, toHeldFailure } from './statuses.js';

/** The response of a call as JSON, as lines of JSON, or as bytes. */
export class RouteResponse {
  readonly #call: GrpcCall;
  readonly #route: BoundRoute;
  readonly #registry: FileRegistry;
  readonly #maxBytes: number;

  constructor(call: GrpcCall, route: BoundRoute, registry: FileRegistry, maxBytes: number) {
    this.#call = call;
    this.#route = route;
    this.#registry = registry;
    this.#maxBytes = maxBytes;
  }

  /** Expects exactly one message, or a status other than OK. */
  async whole(holdBytes = this.#maxBytes): Promise<Outcome> {
    const call = this.#call;
    const first = await call.next();
    const second = first === null ? null : await call.next();
    if (second !== null) throw createUnusable('has more than one message');
    const { status } = call.end ?? {};
    if (status !== undefined && status.code !== 0) return this.#toError();
    if (first === null) throw createUnusable('has no message');
    const { contentType, bytes } = this.#convert(first, false);
    const body = bytes.length > holdBytes ? streamOf(bytes) : bytes;
    return { status: 200, headers: this.#createHeaders(contentType), body };
  }

  async stream(holdBytes = this.#maxBytes): Promise<Outcome> {
    const call = this.#call;
    await call.head();
    const first = await this.#nextUnlessOpen(holdBytes);
    if (first === null && call.end !== null && call.end.status.code !== 0) return this.#toError();
    const held = new BodyPieces();
    let contentType = this.#route.hasBytes ? 'application/octet-stream' : 'application/x-ndjson';
    if (first !== null && first !== 'open') {
      const converted = this.#convert(first, true);
      if (this.#route.hasBytes) contentType = converted.contentType;
      held.add(converted.bytes);
    }
    const headers = this.#createHeaders(contentType);
    while (first !== null && first !== 'open' && held.length <= holdBytes) {
      const message = await call.next();
      if (message === null) break;
      held.add(this.#convert(message, true).bytes);
      this.#assertSize(held.length);
    }
    if (call.end !== null && held.length <= holdBytes && first !== 'open') {
      if (call.end.status.code !== 0) throw toHeldFailure(call.end.status, this.#registry);
      return { status: 200, headers, body: held.list };
    }
    return { status: 200, headers, body: this.#passOn(held) };
  }

  /** With nothing to hold, a stream is open with its head; its type of bytes comes with the first message. */
  async #nextUnlessOpen(holdBytes: number): Promise<Buffer | 'open' | null> {
    const { end, headers } = this.#call;
    const isOver = end !== null || headers['grpc-status'] !== undefined;
    if (holdBytes === 0 && !this.#route.hasBytes && !isOver) return 'open';
    return this.#call.next();
  }

  async *#passOn(held: BodyPieces): AsyncGenerator<Uint8Array, void, undefined> {
    const call = this.#call;
    let { length } = held;
    try {
      yield* held.list;
      for (let next = await call.next(); next !== null; next = await call.next()) {
        const { bytes } = this.#convert(next, true);
        length += bytes.length;
        this.#assertSize(length);
        yield bytes;
      }
      const { status } = call.end ?? {};
      if (status !== undefined && status.code !== 0) throw toFailure(status);
    } finally {
      call.cancel();
    }
  }

  #assertSize(length: number): void {
    if (length <= this.#maxBytes) return;
    const failure = createTooLarge(this.#maxBytes);
    this.#call.fail(failure);
    throw failure;
  }

  #toError(): Outcome {
    const { status } = this.#call.end ?? {};
    if (status === undefined) throw createUnusable('has no status');
    return toErrorOutcome(status, this.#registry);
  }

  #createHeaders(contentType: string): Record<string, string> {
    const { headers, end } = this.#call;
    const all: Record<string, string> = { 'content-type': contentType };
    addResponseHeaders(all, headers);
    if (end !== null) addResponseHeaders(all, end.trailers);
    return all;
  }

  /** @throws ProviderFailure `protocol` for a message that has no JSON. */
  #convert(bytes: Buffer, isLine: boolean): { contentType: string; bytes: Buffer } {
    try {
      const converted = this.#read(bytes);
      if (!(converted instanceof Uint8Array)) {
        const text = JSON.stringify(converted);
        const json = Buffer.from(isLine ? `${text}\n` : text);
        this.#assertSize(json.length);
        return { contentType: 'application/json', bytes: json };
      }
      this.#assertSize(converted.length);
      return { contentType: this.#readType(bytes), bytes: Buffer.from(converted) };
    } catch (error) {
      this.#call.cancel();
      if (isProviderFailure(error)) throw error;
      throw createUnusable(describeUnreadable(error));
    }
  }

  #read(bytes: Buffer): unknown {
    const { responseField: field } = this.#route;
    const { output } = this.#route.method;
    const excess = findTooMany(output, bytes, this.#registry);
    if (excess !== null) throw createUnusable(excess);
    const message = fromBinary(output, bytes);
    if (this.#route.hasBytes) return Reflect.get(this.#findBytes(message), 'data');
    const json = toJson(output, message, { registry: this.#registry });
    if (field === null) return json;
    const value: unknown = Reflect.get(Object(json), field.jsonName);
    if (value !== undefined) return value;
    return EMPTY[field.fieldKind] ?? null;
  }

  #findBytes(message: Message): object {
    const { responseField: field } = this.#route;
    return field === null ? message : (Reflect.get(message, field.localName) ?? { data: NOTHING });
  }

  #readType(bytes: Buffer): string {
    const { output } = this.#route.method;
    const type: unknown = Reflect.get(this.#findBytes(fromBinary(output, bytes)), 'contentType');
    const isValid = typeof type === 'string' && /^[\x21-\x7e][\x20-\x7e]*$/.test(type);
    return isValid ? type : 'application/octet-stream';
  }
}

const NOTHING = new Uint8Array();
/** The JSON of a field that is not set. */
const EMPTY: Readonly<Record<string, unknown>> = { list: [], map: {} };

/** The message of the library names the URL of the type, with any prefix. */
const UNKNOWN_TYPE = /"(?:[^"]*\/)?([\w.]{1,200})" is not in the type registry/;

function describeUnreadable(error: unknown): string {
  const [, typeName] = UNKNOWN_TYPE.exec(error instanceof Error ? error.message : '') ?? [];
  return typeName === undefined
    ? 'does not fit the message'
    : `has an Any of ${typeName}, which is not described`;
}

function createUnusable(problem: string): ProviderFailure {
  return new ProviderFailure('protocol', `response ${problem}`, { status: 200, phase: 'answered' });
}
