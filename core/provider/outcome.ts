import { Duplex } from 'node:stream';
import { BodyPieces } from '../contract/body-pieces.js';
import {
  type BodyStream,
  isBodyStream,
  type Outcome,
  ProviderFailure,
  type Secret,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import {
  findInvalidJsonInSlices,
  type InvalidJson,
  MAX_PART_BYTES,
} from '../lib/json/json-check.js';
import { findLastByte, isEndOfValue } from '../lib/json/value-end.js';
import { isJsonMediaType } from '../lib/media-type.js';
import { PASSTHROUGH_STATUSES } from '../passthrough-statuses.js';
import type { ResponseStream } from './response-stream.js';

/** A complete response whose status cannot be forwarded. */
export class ProviderStatus extends Error {
  override readonly name = 'ProviderStatus';
  readonly outcome: CheckedOutcome;
  /** Whether the client receives it regardless of the descriptor. */
  readonly isPassedOn: boolean;

  constructor(outcome: CheckedOutcome, { isPassedOn = false } = {}) {
    super(`the provider answered ${outcome.status}`);
    this.outcome = outcome;
    this.isPassedOn = isPassedOn;
  }
}

const PASSED_ON: ReadonlySet<number> = new Set(PASSTHROUGH_STATUSES);

/** Whether the client receives the provider's own error, which is then not a failure. */
export function isPassthroughError(error: unknown, { provider_errors }: Descriptor): boolean {
  if (!(error instanceof ProviderStatus)) return false;
  if (error.isPassedOn) return true;
  return provider_errors === 'passthrough' && PASSED_ON.has(error.outcome.status);
}

/**
 * The maximum of all names and values, in characters: four times the limit of Node for a request.
 */
const MAX_HEADERS_LENGTH = 65_536;
/** A token (RFC 9110, 5.6.2) in lower case. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** These characters are not allowed in a value (RFC 9110, 5.5). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

const NONE: readonly Uint8Array[] = [];

/** A response of a valid shape. */
export interface CheckedOutcome extends Pick<Outcome, 'status' | 'headers'> {
  /** Credentials of the request besides those of the config. */
  readonly secrets: readonly Secret[];
  /** The body, in order. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes in all pieces. */
  readonly length: number;
  /** Whether the body is known to be complete: by its head, or as JSON that shows its own end. */
  readonly isDelimited: boolean;
  /** The body after `pieces`, which is still arriving; `null` for a buffered body. */
  readonly stream: ResponseStream | null;
  /** The connection after a 101, which only a WebSocket may have; `null` for any other response. */
  readonly connection: Duplex | null;
  /** The result of the check of the body, if it was made already. */
  readonly invalidJson?: InvalidJson | null;
}

/** Checks a long body ahead, because the check at once would block the event loop. */
export function checkLongBody(outcome: CheckedOutcome): CheckedOutcome | Promise<CheckedOutcome> {
  if (outcome.length <= MAX_PART_BYTES) return outcome;
  return findInvalidJsonInSlices(outcome.pieces).then((invalidJson) => ({
    ...outcome,
    invalidJson,
  }));
}

/** @throws ProviderFailure `protocol` for what is no object. */
export function assertOutcome(outcome: unknown): asserts outcome is object {
  if (typeof outcome !== 'object' || outcome === null) throw createMalformed('without an outcome');
}

/** @param announced the `content-length` in bytes; `null` without one */
type OpenStream = (source: BodyStream, status: number, announced: number | null) => ResponseStream;

/**
 * Validates the response of an adapter, which is third-party code, and copies its list of pieces,
 * so that it cannot change afterwards.
 * @param openStream `null` if no stream was requested
 * @param isUpgrade whether a WebSocket was requested
 * @throws ProviderFailure `protocol`.
 */
export function checkOutcome(
  outcome: Outcome,
  maxBytes: number,
  openStream: OpenStream | null = null,
  isUpgrade = false,
): CheckedOutcome {
  assertOutcome(outcome);
  const { status, headers, body, isDelimited } = outcome;
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    throw createMalformed('without a valid status');
  }
  if (typeof headers !== 'object' || headers === null) throw createMalformed('without headers');
  checkHeaders(headers);
  const secrets = readSecrets(outcome);
  // Most bodies are lists of pieces.
  if (body !== null && !Array.isArray(body) && typeof body === 'object' && isBodyStream(body)) {
    if (openStream === null) throw createMalformed('with a stream that was not asked for');
    const stream = openStream(body, status, readLength(headers));
    const parts = { status, headers, pieces: NONE, length: 0, stream, secrets, connection: null };
    return { ...parts, isDelimited: isDelimited !== false };
  }
  const connection = outcome.connection ?? null;
  if (connection !== null) checkConnection(connection, status, isUpgrade);
  const pieces = copyPieces(body);
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (length > maxBytes) {
    throw createMalformed(`with a body over ${maxBytes} bytes`);
  }
  const isWhole = isDelimited !== false || showsEnd({ headers, pieces });
  const stream = null;
  return { status, headers, pieces, length, stream, secrets, connection, isDelimited: isWhole };
}

/** Whether a body of valid JSON cannot be the start of a longer one: it is not a number. */
function showsEnd({ headers, pieces }: Pick<CheckedOutcome, 'headers' | 'pieces'>): boolean {
  if (!isJsonMediaType(headers['content-type'] ?? '')) return false;
  const last = pieces.findLast((piece) => findLastByte(piece) !== null);
  return last !== undefined && isEndOfValue(findLastByte(last));
}

/** @throws ProviderFailure for an unexpected connection, which is closed. */
function checkConnection(connection: unknown, status: number, isUpgrade: boolean): void {
  if (!(connection instanceof Duplex))
    throw createMalformed('with a connection that is not a Duplex');
  // It may fail before anything reads it.
  connection.on('error', () => connection.destroy());
  if (isUpgrade && status === SWITCHING_PROTOCOLS) return;
  connection.destroy();
  throw createMalformed('with a connection that was not asked for');
}

const SWITCHING_PROTOCOLS = 101;
const NO_SECRETS: readonly Secret[] = [];

/** Reads the credentials of the request. Validated, because adapters are third-party code. */
export function readSecrets(outcome: Outcome | null): readonly Secret[] {
  const secrets: unknown = outcome?.secrets;
  if (!Array.isArray(secrets)) return NO_SECRETS;
  return secrets.filter((secret) => typeof secret?.reveal === 'function' && secret.reveal() !== '');
}

/** Returns `null` unless there is exactly one length. */
export function readLength({ 'content-length': text }: Outcome['headers']): number | null {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * Returns the response with its complete body.
 * @throws ProviderFailure `protocol` for a body of more than `maxBytes`.
 */
export async function holdBody(outcome: CheckedOutcome, maxBytes: number): Promise<CheckedOutcome> {
  const { stream } = outcome;
  if (stream === null) return outcome;
  const { pieces, isWhole } = await collectBody(stream, maxBytes);
  if (isWhole) return createHeld(outcome, pieces.list, pieces.length);
  stream.close();
  throw createMalformed(`with a body over ${maxBytes} bytes`);
}

/**
 * Returns the response with its complete body if that has at most `maxBytes`. A longer one is still
 * a stream, from its start.
 */
export async function holdStart(
  outcome: CheckedOutcome,
  maxBytes: number,
): Promise<CheckedOutcome> {
  const { stream } = outcome;
  if (stream === null) return outcome;
  const { pieces, isWhole } = await collectBody(stream, maxBytes);
  if (isWhole) return createHeld(outcome, pieces.list, pieces.length);
  stream.unread(pieces.list);
  return outcome;
}

interface CollectedBody {
  readonly pieces: BodyPieces;
  /** Whether it is complete; otherwise it has paused beyond the maximum. */
  readonly isWhole: boolean;
}

/** Reads a body up to the first part beyond `maxBytes`, and counts what it holds. */
function collectBody(stream: ResponseStream, maxBytes: number): Promise<CollectedBody> {
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces();
    stream.pipe({
      write: (part) => {
        pieces.add(toBuffer(part));
        const isWithin = pieces.length <= maxBytes;
        if (isWithin) stream.hold(pieces.length);
        else resolve({ pieces, isWhole: false });
        return isWithin;
      },
      end: () => resolve({ pieces, isWhole: true }),
      fail: reject,
    });
  });
}

/** The outcome once its body has arrived. */
function createHeld(outcome: CheckedOutcome, pieces: readonly Uint8Array[], length: number) {
  const isDelimited = outcome.isDelimited || showsEnd({ headers: outcome.headers, pieces });
  return checkLongBody({ ...outcome, pieces, length, isDelimited, stream: null });
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function copyPieces(body: unknown): readonly Uint8Array[] {
  if (body === null) return NONE;
  const pieces = Array.isArray(body) ? body.slice() : [body];
  for (const piece of pieces) {
    if (!(piece instanceof Uint8Array)) throw createMalformed('with a body that is not bytes');
  }
  return pieces;
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  // The entries of a `Headers` or a `Map` are not its members.
  if (Symbol.iterator in headers)
    throw createMalformed('with headers that are no plain object: use Object.fromEntries(headers)');
  let length = 0;
  for (const name of Object.keys(headers)) {
    const value: unknown = headers[name];
    if (!HEADER_NAME.test(name))
      throw createMalformed('with an invalid header name: expected a token in lower case');
    if (typeof value !== 'string') throw createMalformed('with a header that is not a string');
    if (CONTROL.test(value)) throw createMalformed('with a control character in a header');
    length += name.length + value.length;
  }
  if (length > MAX_HEADERS_LENGTH)
    throw createMalformed(`with more than ${MAX_HEADERS_LENGTH} characters of headers`);
}

function createMalformed(problem: string): ProviderFailure {
  return new ProviderFailure('protocol', `the adapter responded ${problem}`, { phase: 'answered' });
}
