import { isJsonMediaType, isListedType } from '../../lib/media-type.js';
import { type CheckedOutcome, holdBody, holdStart, readLength } from '../../provider/outcome.js';
import type { ParseResponse } from '../../provider/provider-call.js';
import { JSON_TYPE } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { createByteReader, type ForwardedBytes, isRanges } from './byte-response.js';
import type { ExposeHeaders } from './exposed-headers.js';
import { checkJsonHead, createProtocolFailure } from './provider-response.js';
import type { MatchedRoute } from './route-call.js';

const RANGE_NOT_SATISFIABLE = 416;

interface JsonForm<Json> {
  readonly readJson: ParseResponse<Json>;
  /** The length beyond which JSON is streamed; `null` to hold all of it. */
  readonly holdBytes: number | null;
  /** `null` if the descriptor exposes no headers. */
  readonly expose: ExposeHeaders | null;
}

/** Creates a reader for routes that carry JSON and the listed types, by the head of the response. */
export function createEitherReader<Json>(
  matched: MatchedRoute,
  request: Pick<CallerRequest, 'method' | 'headers'>,
  { readJson, holdBytes, expose }: JsonForm<Json>,
): ParseResponse<ForwardedBytes | Json> {
  const { match, module } = matched;
  const { limits, responses } = module.descriptor;
  const { responseBytes } = match.value;
  const readBytes = createByteReader(matched, request, readJson, expose);
  const isEnvelopeOfHead = request.method === 'HEAD' && responses.mode === 'envelope';
  return async (outcome, source, operation) => {
    const { status, headers, stream } = outcome;
    const { 'content-type': type } = headers;
    const isListed = type !== undefined && isListedType(type, responseBytes?.types ?? []);
    if (isListed || isRanges(outcome, request.headers) || status === RANGE_NOT_SATISFIABLE) {
      stream?.becomeBody(responseBytes?.maxBytes ?? 0, limits);
      return readBytes(outcome, source, operation);
    }
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && isEnvelopeOfHead && (type === undefined || isJsonMediaType(type))) {
      return {
        mode: 'bytes',
        bytes: HEAD_OF_JSON,
        exposed: expose?.(outcome, source.base) ?? null,
      };
    }
    const isForeign = stream !== null && type !== undefined;
    const failure = isForeign ? checkJsonHead(outcome) : null;
    if (failure !== null) throw failure;
    return readJson(await holdJson(outcome), source, operation);
  };

  function holdJson(outcome: CheckedOutcome): Promise<CheckedOutcome> {
    const { response_bytes: maxBytes } = limits;
    if ((readLength(outcome.headers) ?? 0) > maxBytes && request.method !== 'HEAD') {
      throw createProtocolFailure(outcome, `over ${maxBytes} bytes`, `over ${maxBytes} bytes`);
    }
    outcome.stream?.becomeBody(maxBytes, limits);
    return holdBytes === null ? holdBody(outcome, maxBytes) : holdStart(outcome, holdBytes);
  }
}

/** The length of the provider's JSON is not that of its envelope. */
const HEAD_OF_JSON: ForwardedBytes['bytes'] = {
  status: 200,
  pieces: [],
  contentType: JSON_TYPE,
  contentLength: null,
  stream: null,
  headers: [],
  exposed: [],
};
