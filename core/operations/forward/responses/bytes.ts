import { createHash } from 'node:crypto';
import { isJsonMediaType, isListedType, readMediaType } from '../../../lib/media-type.js';
import type { LiveRoute } from '../../../modules/live-module.js';
import {
  type CheckedOutcome,
  holdBody,
  holdStart,
  ProviderStatus,
  readLength,
} from '../../../provider/outcome.js';
import type { ParseResponse } from '../../../provider/provider-call.js';
import type { ResponseStream } from '../../../provider/response-stream.js';
import { BODILESS, JSON_TYPE, Reply } from '../../reply.js';
import { type CallerRequest, pathOf } from '../../request.js';
import { assertSendable, type ExposedHeaders, exposeHeaders } from '../exposed-headers.js';
import {
  checkJsonHead,
  createProtocolFailure,
  createRedirectFailure,
  describeContentType,
  UNKNOWN_LENGTH,
} from '../provider-response.js';
import type { MatchedRoute, RouteCall } from '../route-call.js';
import { followBody } from '../watch-right.js';
import type { ForwardedResponse, ReadCall, ResponseForm } from './response-form.js';
import { jsonForm } from './streamed-json.js';

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
const KEPT_NAMES: ReadonlySet<string> = new Set(KEPT);
/** Additional headers that pages of other origins may read. */
const READABLE = ['content-type', 'content-length', ...KEPT] as const;

type ByteParts = Pick<Reply, 'status' | 'pieces' | 'contentType' | 'contentLength' | 'headers'> & {
  readonly stream: ResponseStream | null;
  /** The names of its own headers that pages of other origins may read. */
  readonly readable: readonly string[];
};

interface ByteResponse extends ForwardedResponse {
  readonly bytes: ByteParts;
  readonly exposed: ExposedHeaders;
}

/** Bytes, whose content is not parsed. JSON may stand beside them. */
export const bytesForm: ResponseForm<ByteResponse> = {
  fits: ({ responseBytes }) => responseBytes !== null,

  stream({ responseBytes }, { descriptor: { limits } }) {
    const { maxBytes = 0, besideJson = false } = responseBytes ?? {};
    return {
      maxBytes: besideJson ? Math.max(maxBytes, limits.response_bytes) : maxBytes,
      holdBytes: 0,
    };
  },

  read(call, ...response) {
    const isBeside = call.matched.match.value.responseBytes?.besideJson === true;
    return isBeside ? readEither(call, ...response) : readBytes(call, ...response);
  },

  reply(call, { bytes, exposed }) {
    const { authorization, matched } = call;
    recordBytes(bytes, call);
    const isRaw = matched.module.descriptor.responses.mode === 'raw';
    const envelope = isRaw ? [] : listEnvelopeHeaders(matched);
    return Reply.forwarded(authorization, {
      ...bytes,
      cacheControl: exposed.cacheControl,
      headers: [...bytes.headers, ...envelope, ...listOtherHeaders(exposed)],
      exposed: [...bytes.readable, ...namesOf(envelope), ...exposed.exposed],
    });
  },
};

/** Reads JSON or the listed types, by the head of the response. */
async function readEither(
  call: ReadCall,
  ...[outcome, source, operation]: Parameters<ParseResponse<unknown>>
): Promise<ByteResponse | ForwardedResponse> {
  const { request, matched } = call;
  const { match, module } = matched;
  const { limits, responses } = module.descriptor;
  const { responseBytes } = match.value;
  const { status, headers, stream } = outcome;
  const { 'content-type': type } = headers;
  const isListed = type !== undefined && isListedType(type, responseBytes?.types ?? []);
  if (isListed || isRanges(outcome, request.headers) || status === RANGE_NOT_SATISFIABLE) {
    stream?.becomeBody(responseBytes?.maxBytes ?? 0, limits);
    return readBytes(call, outcome, source, operation);
  }
  const isEnvelopeOfHead = request.method === 'HEAD' && responses.mode === 'envelope';
  if (isSuccess(status) && isEnvelopeOfHead && (type === undefined || isJsonMediaType(type))) {
    const exposed = exposeHeaders(call, outcome, source.base);
    return { form: bytesForm, bytes: HEAD_OF_JSON, exposed };
  }
  const isForeign = stream !== null && type !== undefined;
  const failure = isForeign ? checkJsonHead(outcome) : null;
  if (failure !== null) throw failure;
  const { response_bytes: maxBytes, hold_bytes: holdBytes } = limits;
  if ((readLength(headers) ?? 0) > maxBytes && request.method !== 'HEAD') {
    throw createProtocolFailure(outcome, `over ${maxBytes} bytes`, `over ${maxBytes} bytes`);
  }
  stream?.becomeBody(maxBytes, limits);
  const held = jsonForm.fits(match.value, module)
    ? await holdStart(outcome, holdBytes)
    : await holdBody(outcome, maxBytes);
  return jsonForm.read(call, held, source, operation);
}

/** The length of the provider's JSON is not that of its envelope. */
const HEAD_OF_JSON: ByteParts = {
  status: 200,
  pieces: [],
  contentType: JSON_TYPE,
  contentLength: null,
  stream: null,
  headers: [],
  readable: [],
};

/** Leaves errors, and what raw mode never forwards as bytes, to the form for JSON. */
async function readBytes(
  call: ReadCall,
  ...[received, source, operation]: Parameters<ParseResponse<unknown>>
): Promise<ByteResponse | ForwardedResponse> {
  const { request, matched } = call;
  const { module, match } = matched;
  const { limits, responses } = module.descriptor;
  const isRaw = responses.mode === 'raw';
  const isHead = request.method === 'HEAD';
  const { status, headers } = received;
  const hasType = (one: CheckedOutcome) =>
    isListedResponse(one, match.value, isHead) || isRanges(one, request.headers);
  // Whether a response without a type has no bytes may show only at its end.
  const isOpen = isSuccess(status) && headers['content-type'] === undefined && !hasType(received);
  const outcome = isOpen ? await holdStart(received, 0) : received;
  const isListed = hasType(outcome);
  const isPassed = isRaw ? isPassedRaw(status, isListed) : isSuccess(status);
  if (!isPassed) {
    if (!isRaw && status >= 300 && status < MIN_ERROR_STATUS) throw createRedirectFailure(outcome);
    const held = await holdBody(outcome, limits.response_bytes);
    if (!isRaw && status === RANGE_NOT_SATISFIABLE) {
      throw new ProviderStatus(held, { isPassedOn: true });
    }
    return jsonForm.read(call, held, source, operation);
  }
  if (!isListed) {
    const detail = describeContentType(headers['content-type']);
    throw createProtocolFailure(outcome, 'of a media type that the route does not list', detail);
  }
  if (isSuccess(status) && !outcome.isDelimited) {
    throw createProtocolFailure(outcome, UNKNOWN_LENGTH.state, UNKNOWN_LENGTH.detail);
  }
  const bytes = readParts(outcome, match.value, isHead);
  return { form: bytesForm, bytes, exposed: exposeHeaders(call, outcome, source.base) };
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
function isRanges(
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
function readParts(
  outcome: CheckedOutcome,
  { responseBytes }: LiveRoute,
  isHead: boolean,
): ByteParts {
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
    readable: READABLE,
  };
}

/** The exposed headers of the descriptor, except those of every byte response. */
function listOtherHeaders({ headers }: ExposedHeaders): readonly string[] {
  return headers.filter((_, index) => !KEPT_NAMES.has(headers[index - (index % 2)] ?? ''));
}

/** The fields of the envelope, which bytes do not have. */
function listEnvelopeHeaders({ module, target, match }: MatchedRoute): readonly string[] {
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

function namesOf(headers: readonly string[]): string[] {
  return headers.filter((_, index) => index % 2 === 0);
}

/** Records the number of forwarded bytes, and where the descriptor asks for it, their digest. */
function recordBytes({ stream, pieces }: ByteParts, call: RouteCall): void {
  const { facts, matched } = call;
  const hash = matched.module.descriptor.records.digests ? createHash('sha256') : null;
  if (stream === null) {
    facts.bytes_out = 0;
    for (const piece of pieces) {
      facts.bytes_out += piece.length;
      hash?.update(piece);
    }
    if (hash !== null) facts.response_sha256 = hash.digest('hex');
    return;
  }
  followBody(call, stream);
  if (hash !== null) stream.onChunk = (chunk) => hash.update(chunk);
  // The failure of a streamed body is known only after the head.
  stream.onEnd((failure) => {
    facts.bytes_out = stream.bytes;
    if (failure === null && hash !== null) facts.response_sha256 = hash.digest('hex');
  });
}
