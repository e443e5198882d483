import type { ProviderFailure, StreamForm } from '../../contract/index.js';
import type { HostError } from '../../errors.js';
import { createMask, maskFailure } from '../../provider/mask-failure.js';
import { type OpenStream, TooManyStreams } from '../../provider/open-streams.js';
import type { ResponseStream } from '../../provider/response-stream.js';
import { createRateLimitError } from '../rate-limit.js';
import type { Reply } from '../reply.js';
import type { ClientClosed } from '../request.js';
import { EventStream } from './event-stream.js';
import { createOpening } from './forwarded-response.js';
import { translateOverload } from './overload.js';
import { createFailureError } from './provider-error.js';
import { describeRoute, type RouteCall } from './route-call.js';
import type { ForwardedEvents } from './stream-response.js';
import { watchRight } from './watch-right.js';

/** A guess, because the end of the actor's other streams is unknown. Milliseconds. */
const RETRY_AFTER_MS = 1000;

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

/**
 * @param admitted `null` if only the response shows that it is a stream
 * @throws HostError 429, 502.
 */
export function createEventReply(
  call: RouteCall,
  { status, contentType, source, pieces, isDelimited }: ForwardedEvents,
  admitted: OpenStream | null,
): Pick<Reply, 'status' | 'pieces' | 'contentType' | 'contentLength' | 'stream' | 'headers'> {
  const { matched, facts, request } = call;
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
    opening: isRaw ? null : createOpening(matched.target, matched.match),
    limits: descriptor.limits.stream,
    toError: createToError(call),
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
  return { status, pieces: [], contentType, contentLength: null, stream, headers: [] };
}

/** Creates the errors of streams that fail. */
export function createToError(call: RouteCall): ResponseStream['toError'] {
  return (failure) => createCallFailure(call, failure);
}

/** Creates the error of a call that failed after its provider had answered. */
export function createCallFailure(
  { matched, request }: RouteCall,
  failure: ProviderFailure,
): HostError | ClientClosed {
  const { descriptor, secrets } = matched.module;
  const masked = maskFailure(failure, createMask(secrets, request));
  return createFailureError(masked, describeRoute(matched), descriptor.owner);
}
