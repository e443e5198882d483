import { createHash } from 'node:crypto';
import { isListedType, readMediaType } from '../../lib/media-type.js';
import type { LiveRoute } from '../../modules/live-module.js';
import {
  type CheckedOutcome,
  holdBody,
  holdStart,
  ProviderStatus,
  readLength,
} from '../../provider/outcome.js';
import type { ParseResponse } from '../../provider/provider-call.js';
import type { ResponseStream } from '../../provider/response-stream.js';
import { BODILESS, type Reply } from '../reply.js';
import { type CallerRequest, pathOf } from '../request.js';
import { assertSendable, type ExposedHeaders, type ExposeHeaders } from './exposed-headers.js';
import {
  createProtocolFailure,
  createRedirectFailure,
  describeContentType,
  UNKNOWN_LENGTH,
} from './provider-response.js';
import type { MatchedRoute } from './route-call.js';

const RANGE_NOT_SATISFIABLE = 416;
const PARTIAL_CONTENT = 206;
/** The parts of several ranges, each with its own type. */
const BYTE_RANGES = 'multipart/byteranges';
const MIN_ERROR_STATUS = 400;

/** The headers of every byte response, besides its type and its length. */
const KEPT = [
  'content-encoding',
  'content-disposition',
  'etag',
  'last-modified',
  'accept-ranges',
  'content-range',
] as const;
/** Additional headers that pages of other origins may read. */
const READABLE = ['content-type', 'content-length', ...KEPT] as const;

/** The parts of a byte reply. */
export type ByteResponse = Pick<
  Reply,
  'status' | 'pieces' | 'contentType' | 'contentLength' | 'headers'
> & { readonly stream: ResponseStream | null; readonly exposed: readonly string[] };

/** The parts of a byte response that callers receive. */
export interface ForwardedBytes {
  readonly mode: 'bytes';
  readonly bytes: ByteResponse;
  /** `null` if the descriptor exposes none. */
  readonly exposed: ExposedHeaders | null;
}

/**
 * Creates a reader of byte responses, which does not parse the body.
 * @param readOther reads a response other than bytes: an error, or one that raw mode never forwards
 * @param expose `null` if the descriptor exposes no headers
 */
export function createByteReader<Other>(
  { module, match }: MatchedRoute,
  request: Pick<CallerRequest, 'method' | 'headers'>,
  readOther: ParseResponse<Other>,
  expose: ExposeHeaders | null,
): ParseResponse<ForwardedBytes | Other> {
  const { limits, responses } = module.descriptor;
  const isRaw = responses.mode === 'raw';
  const isHead = request.method === 'HEAD';
  return async (received, source, operation) => {
    const { status, headers } = received;
    const hasType = (one: CheckedOutcome) =>
      isListedResponse(one, match.value, isHead) || isRanges(one, request.headers);
    // Whether a response without a type has no bytes may show only at its end.
    const isOpen = isSuccess(status) && headers['content-type'] === undefined && !hasType(received);
    const outcome = isOpen ? await holdStart(received, 0) : received;
    const isListed = hasType(outcome);
    const isPassed = isRaw ? isPassedRaw(status, isListed) : isSuccess(status);
    if (!isPassed) {
      if (!isRaw && status >= 300 && status < MIN_ERROR_STATUS)
        throw createRedirectFailure(outcome);
      const held = await holdBody(outcome, limits.response_bytes);
      if (!isRaw && status === RANGE_NOT_SATISFIABLE) {
        throw new ProviderStatus(held, { isPassedOn: true });
      }
      return readOther(held, source, operation);
    }
    if (!isListed) {
      const detail = describeContentType(headers['content-type']);
      throw createProtocolFailure(outcome, 'of a media type that the route does not list', detail);
    }
    if (isSuccess(status) && !outcome.isDelimited) {
      throw createProtocolFailure(outcome, UNKNOWN_LENGTH.state, UNKNOWN_LENGTH.detail);
    }
    const bytes = createByteResponse(outcome, match.value, isHead);
    return { mode: 'bytes', bytes, exposed: expose?.(outcome, source.base) ?? null };
  };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** An error of another type than the route's is forwarded as on any other route. */
function isPassedRaw(status: number, isListed: boolean): boolean {
  if (status === 407 || status === 421) return false;
  return isSuccess(status) || status === 304 || (status >= MIN_ERROR_STATUS && isListed);
}

/** Whether it has the ranges that the caller asks for. */
export function isRanges(
  { status, headers }: CheckedOutcome,
  requested: CallerRequest['headers'],
): boolean {
  if (status !== PARTIAL_CONTENT || requested.get('range') === undefined) return false;
  return readMediaType(headers['content-type'] ?? '') === BYTE_RANGES;
}

function isListedResponse(
  { status, headers, length, stream }: CheckedOutcome,
  { responseBytes }: LiveRoute,
  isHead: boolean,
): boolean {
  if (BODILESS.has(status)) return true;
  const type = headers['content-type'];
  const isEmpty = isHead || (length === 0 && stream === null);
  if (isEmpty && type === undefined) return true;
  return isListedType(type, responseBytes?.types ?? null);
}

/**
 * @throws ProviderFailure for a length that the route does not allow, and a header that HTTP cannot
 * transfer.
 */
function createByteResponse(
  outcome: CheckedOutcome,
  { responseBytes }: LiveRoute,
  isHead: boolean,
): ByteResponse {
  const { status, headers, pieces, length, stream } = outcome;
  const announced = readLength(headers);
  const maxBytes = responseBytes?.maxBytes ?? 0;
  if (Math.max(announced ?? 0, length) > maxBytes) {
    throw createProtocolFailure(outcome, `over ${maxBytes} bytes`, `over ${maxBytes} bytes`);
  }
  const read = (name: string): string | null => {
    const { [name]: value } = headers;
    return value === undefined ? null : assertSendable(outcome, value);
  };
  const keptHeaders = KEPT.flatMap((name) => {
    const value = read(name);
    return value === null ? [] : [name, value];
  });
  return {
    status,
    pieces,
    contentType: BODILESS.has(status) ? null : read('content-type'),
    contentLength: isHead || stream !== null ? announced : length,
    stream,
    headers: keptHeaders,
    exposed: READABLE,
  };
}

/** The exposed headers of the descriptor, except those of every byte response. */
export function listOtherHeaders({ headers }: ExposedHeaders): readonly string[] {
  const keptNames: ReadonlySet<string> = new Set(KEPT);
  return headers.filter((_, index) => !keptNames.has(headers[index - (index % 2)] ?? ''));
}

/** The fields of the envelope, which bytes do not have. */
export function listEnvelopeHeaders({ module, target, match }: MatchedRoute): readonly string[] {
  const { method, declaredPath, capability } = match.value;
  const fields = {
    status: 'forwarded',
    'module-name': module.name,
    method,
    // Braces may stand in a header, and mark the parameters.
    'declared-path': encodeURI(declaredPath).replaceAll('%7B', '{').replaceAll('%7D', '}'),
    'provider-path': pathOf(target),
    ...(capability !== null && { capability }),
    'path-params': new URLSearchParams(match.params).toString(),
  };
  return Object.entries(fields).flatMap(([name, value]) => [`modgate-${name}`, value]);
}

/** Records the number of forwarded bytes, and the digest of a complete body if `hasDigest`. */
export function recordStream(
  stream: ResponseStream,
  facts: CallerRequest['facts'],
  hasDigest: boolean,
): void {
  const hash = hasDigest ? createHash('sha256') : null;
  if (hash !== null) stream.onChunk = (chunk) => hash.update(chunk);
  stream.onEnd((failure) => {
    facts.bytes_out = stream.bytes;
    if (failure === null && hash !== null) facts.response_sha256 = hash.digest('hex');
  });
}

/** Records buffered bytes. */
export function recordPieces(
  pieces: readonly Uint8Array[],
  facts: CallerRequest['facts'],
  hasDigest: boolean,
): void {
  facts.bytes_out = 0;
  for (const { length } of pieces) facts.bytes_out += length;
  if (!hasDigest) return;
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  facts.response_sha256 = hash.digest('hex');
}
