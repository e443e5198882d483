import { isListedType, readMediaType } from '../../lib/media-type.js';
import { type CheckedOutcome, holdBody, holdStart } from '../../provider/outcome.js';
import type { ParseResponse } from '../../provider/provider-call.js';
import type { ResponseStream } from '../../provider/response-stream.js';
import { BODILESS } from '../reply.js';
import type { CallerRequest } from '../request.js';
import type { ExposedHeaders, ExposeHeaders } from './exposed-headers.js';
import {
  createProtocolFailure,
  createRedirectFailure,
  describeContentType,
  findForeignHeader,
} from './provider-response.js';
import type { MatchedRoute } from './route-call.js';
import { createJsonReader, type StreamedJson } from './streamed-json.js';

const MIN_ERROR_STATUS = 400;
const NONE: readonly Uint8Array[] = [];

/** A response for callers that is a stream of events. */
export interface ForwardedEvents {
  readonly mode: 'events';
  readonly status: number;
  readonly contentType: string;
  /** `null` if `pieces` is the complete response. */
  readonly source: ResponseStream | null;
  readonly pieces: readonly Uint8Array[];
  /** Whether its end shows that it is complete. */
  readonly isDelimited: boolean;
  /** `null` if the descriptor exposes none. */
  readonly exposed: ExposedHeaders | null;
}

/**
 * Creates a reader for routes with a stream of events. In envelope mode only such a stream is a
 * success, unless it is optional; in raw mode the provider decides.
 * @param readOther reads a response other than a stream
 * @param expose `null` if the descriptor exposes no headers
 */
export function createStreamReader<Other>(
  matched: MatchedRoute,
  { method }: Pick<CallerRequest, 'method'>,
  readOther: ParseResponse<Other>,
  expose: ExposeHeaders | null,
): ParseResponse<ForwardedEvents | StreamedJson | Other> {
  const { module, match } = matched;
  const { limits, responses } = module.descriptor;
  const { stream: rules } = match.value;
  const isRaw = responses.mode === 'raw';
  const mayBeJson = isRaw || rules?.isOptional === true;
  const readJson = createJsonReader(matched, readOther, expose);
  return async (outcome, endpoint, operation) => {
    const { status, headers, pieces, stream: source } = outcome;
    const { 'content-type': type } = headers;
    const isListed = rules !== null && isListedType(type, rules.types);
    const isSuccess = status >= 200 && status < 300 && method !== 'HEAD';
    const isEmpty = !mayBeJson && BODILESS.has(status);
    if (rules !== null && isSuccess && (isListed || isEmpty)) {
      assertPlain(outcome);
      return {
        mode: 'events',
        status: isRaw ? status : 200,
        // Without parameters, of which a browser might make another type.
        contentType: (isRaw ? readMediaType(type ?? '') : null) ?? rules.mediaType,
        source,
        pieces,
        isDelimited: outcome.isDelimited,
        exposed: expose?.(outcome, endpoint.base) ?? null,
      };
    }
    if (!isRaw && status >= 300 && status < MIN_ERROR_STATUS) throw createRedirectFailure(outcome);
    const foreign = findForeignHeader(headers);
    if (isSuccess && (!mayBeJson || (source !== null && foreign !== null))) {
      const detail = foreign ?? describeContentType(type);
      throw createProtocolFailure(outcome, 'of a media type that the route does not list', detail);
    }
    source?.becomeBody(limits.response_bytes, limits);
    // Only a held body is checked.
    const isChecked = Boolean(match.value.schemas?.output);
    if (isRaw && !isChecked && foreign === null && limits.hold_bytes < limits.response_bytes) {
      return readJson(await holdStart(outcome, limits.hold_bytes), endpoint, operation);
    }
    // The end of an error that is a stream could take forever.
    const held =
      isListed && foreign !== null
        ? dropBody(outcome)
        : await holdBody(outcome, limits.response_bytes);
    return readOther(held, endpoint, operation);
  };
}

/** @throws ProviderFailure for a stream whose events cannot be parsed. */
function assertPlain(outcome: CheckedOutcome): void {
  const { 'content-encoding': encoding } = outcome.headers;
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  const detail = `content-encoding ${encoding}`;
  throw createProtocolFailure(outcome, 'a stream that is not in plain encoding', detail);
}

function dropBody(outcome: CheckedOutcome): CheckedOutcome {
  outcome.stream?.close();
  return { ...outcome, pieces: NONE, length: 0, isDelimited: true, stream: null };
}
