import type { StreamForm } from '../../../contract/index.js';
import { isEncoded } from '../../../lib/content-encoding.js';
import { UNBUFFERED } from '../../../lib/header-names.js';
import { isListedType, readMediaType } from '../../../lib/media-type.js';
import { type OpenStream, TooManyStreams } from '../../../provider/open-streams.js';
import { type CheckedOutcome, holdBody, holdStart } from '../../../provider/outcome.js';
import type { ResponseStream } from '../../../provider/response-stream.js';
import { createRateLimitError } from '../../rate-limit.js';
import { BODILESS, Reply } from '../../reply.js';
import { EventStream } from '../event-stream.js';
import { type ExposedHeaders, exposeHeaders } from '../exposed-headers.js';
import { translateOverload } from '../overload.js';
import { createCallFailure } from '../provider-error.js';
import {
  createProtocolFailure,
  createRedirectFailure,
  describeContentType,
  findForeignHeader,
} from '../provider-response.js';
import { describeRoute, type RouteCall } from '../route-call.js';
import { watchRight } from '../watch-right.js';
import { createOpening } from './envelope.js';
import { createHead } from './raw.js';
import type { ForwardedResponse, ResponseForm } from './response-form.js';
import { jsonForm } from './streamed-json.js';

const MIN_ERROR_STATUS = 400;
const NONE: readonly Uint8Array[] = [];
/** A guess, because the end of the actor's other streams is unknown. Milliseconds. */
const RETRY_AFTER_MS = 1000;

interface EventResponse extends ForwardedResponse {
  readonly status: number;
  readonly contentType: string;
  /** `null` if `pieces` is the complete response. */
  readonly source: ResponseStream | null;
  readonly pieces: readonly Uint8Array[];
  /** Whether its end shows that it is complete. */
  readonly isDelimited: boolean;
  readonly exposed: ExposedHeaders;
}

/**
 * A stream of events. In envelope mode only such a stream is a success, unless it is optional; in
 * raw mode the provider decides.
 */
export const eventsForm: ResponseForm<EventResponse> = {
  fits: ({ stream }) => stream !== null,

  stream: (_route, { descriptor: { limits } }) => ({
    maxBytes: Number.MAX_SAFE_INTEGER,
    holdBytes: 0,
    events: { idleMs: limits.stream.idle_ms },
  }),

  async read(call, outcome, endpoint, operation) {
    const { module, match } = call.matched;
    const { limits, responses } = module.descriptor;
    const { stream: rules } = match.value;
    const isRaw = responses.mode === 'raw';
    const mayBeJson = isRaw || rules?.isOptional === true;
    const { status, headers, pieces, stream: source } = outcome;
    const { 'content-type': type } = headers;
    const isListed = rules !== null && isListedType(type, rules.types);
    const is2xx = status >= 200 && status < 300;
    const isHead = call.request.method === 'HEAD';
    if (is2xx && isHead && isListed) return createHead(call, outcome, endpoint.base, type);
    const isSuccess = is2xx && !isHead;
    const isEmpty = !mayBeJson && BODILESS.has(status);
    if (rules !== null && isSuccess && (isListed || isEmpty)) {
      assertPlain(outcome);
      return {
        form: eventsForm,
        status: isRaw ? status : 200,
        // Without parameters, of which a browser might make another type.
        contentType: (isRaw ? readMediaType(type ?? '') : null) ?? rules.mediaType,
        source,
        pieces,
        isDelimited: outcome.isDelimited,
        exposed: exposeHeaders(call, outcome, endpoint.base),
      };
    }
    if (!isRaw && status >= 300 && status < MIN_ERROR_STATUS) throw createRedirectFailure(outcome);
    const foreign = findForeignHeader(headers);
    if (isSuccess && (!mayBeJson || (source !== null && foreign !== null))) {
      const detail = foreign ?? describeContentType(type);
      throw createProtocolFailure(outcome, 'of a media type that the route does not list', detail);
    }
    source?.becomeBody(limits.response_bytes, limits);
    if (isRaw && foreign === null && jsonForm.fits(match.value, module)) {
      const start = await holdStart(outcome, limits.hold_bytes);
      return jsonForm.read(call, start, endpoint, operation);
    }
    // The end of an error that is a stream could take forever.
    const held =
      isListed && foreign !== null
        ? dropBody(outcome)
        : await holdBody(outcome, limits.response_bytes);
    return jsonForm.read(call, held, endpoint, operation);
  },

  reply(call, { status, contentType, source, pieces, isDelimited, exposed }, admitted) {
    const { authorization, matched, facts, request } = call;
    const { descriptor } = matched.module;
    const form = matched.match.value.stream?.form ?? 'sse';
    let open: OpenStream;
    try {
      open = admitted ?? admitStream(call, form);
    } catch (error) {
      source?.close();
      throw error;
    }
    const isRaw = descriptor.responses.mode === 'raw';
    let stopWatching = () => {};
    const stream = new EventStream({
      source,
      pieces,
      isDelimited,
      form,
      opening: isRaw ? null : createOpening(matched),
      limits: descriptor.limits.stream,
      toError: (failure) => createCallFailure(call, failure),
      onEnd: (end) => {
        facts.stream_end = end;
        if (end === 'problem') open.fail();
        stopWatching();
      },
      onSettled: () => {
        facts.bytes_out = stream.bytes;
        open.close();
      },
    });
    open.end = (reason) => stream.end(reason);
    stopWatching = watchRight(call, {
      endsWithCredential: true,
      onLost: () => stream.end('unauthorized'),
    });
    if (request.signal.aborted) stream.close();
    return Reply.forwarded(authorization, {
      ...{ status, pieces: [], contentType, contentLength: null, stream },
      ...exposed,
      headers: exposed.headers.includes(UNBUFFERED[0])
        ? exposed.headers
        : [...exposed.headers, ...UNBUFFERED],
    });
  },
};

/**
 * Counts a stream against the limits of its actor and its module.
 * @throws HostError 429, 502.
 */
export function admitStream({ matched, request }: RouteCall, form: StreamForm): OpenStream {
  const { module } = matched;
  try {
    return module.client.openStream(form, request.actor);
  } catch (error) {
    if (!(error instanceof TooManyStreams)) {
      throw translateOverload(error, describeRoute(matched), module.descriptor.owner);
    }
    const detail = 'the caller has too many open streams of the module';
    throw createRateLimitError('limits.stream.per_actor', detail, RETRY_AFTER_MS);
  }
}

/** @throws ProviderFailure for a stream whose events cannot be parsed. */
function assertPlain(outcome: CheckedOutcome): void {
  const { 'content-encoding': encoding } = outcome.headers;
  if (!isEncoded(encoding)) return;
  const detail = `content-encoding ${encoding}`;
  throw createProtocolFailure(outcome, 'a stream that is not in plain encoding', detail);
}

function dropBody(outcome: CheckedOutcome): CheckedOutcome {
  outcome.stream?.close();
  return { ...outcome, pieces: NONE, length: 0, isDelimited: true, stream: null };
}
