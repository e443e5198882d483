import type { Actor } from '../../contract/index.js';
import { maskFailure } from '../../provider/mask-failure.js';
import { type OpenStream, TooManyStreams } from '../../provider/open-streams.js';
import { mayCallRoute } from '../authorization.js';
import { createRateLimitError } from '../rate-limit.js';
import type { Reply } from '../reply.js';
import { EventStream } from './event-stream.js';
import { createOpening } from './forwarded-response.js';
import { translateOverload } from './overload.js';
import { createFailureError } from './provider-error.js';
import { describeRoute, type RouteCall } from './route-call.js';
import type { ForwardedEvents } from './stream-response.js';

/** The longest time between two checks whether the caller may still read. Milliseconds. */
const RECHECK_MS = 30_000;
/** When a stream of the same actor ends is not known. Milliseconds. */
const RETRY_AFTER_MS = 1000;

/**
 * Counts a stream against the limits of its actor and its module.
 * @throws HostError 429, 502.
 */
export function admitStream({ found, request }: RouteCall): OpenStream {
  const { module, match } = found;
  const { stream } = match.value;
  if (stream === null) throw new Error('the route has no stream');
  try {
    return module.client.openStream(stream.form, request.actor);
  } catch (error) {
    if (!(error instanceof TooManyStreams)) {
      throw translateOverload(error, describeRoute(found), module.descriptor.owner);
    }
    const detail = 'the caller has too many open streams of the module';
    throw createRateLimitError('limits.stream.per_actor', detail, RETRY_AFTER_MS);
  }
}

/**
 * @param admitted `null` where only the response says that it is a stream
 * @throws HostError 429, 502.
 */
export function createEventReply(
  call: RouteCall,
  { status, contentType, source, pieces }: ForwardedEvents,
  admitted: OpenStream | null,
): Pick<Reply, 'status' | 'pieces' | 'contentType' | 'contentLength' | 'stream' | 'headers'> {
  const { found, facts, request } = call;
  const { descriptor, secrets } = found.module;
  let open: OpenStream;
  try {
    open = admitted ?? admitStream(call);
  } catch (error) {
    source?.close();
    throw error;
  }
  const form = found.match.value.stream?.form ?? 'sse';
  const isRaw = descriptor.responses.mode === 'raw';
  let stopWatching = () => {};
  const stream = new EventStream({
    source,
    pieces,
    form,
    opening: isRaw ? null : createOpening(found.target, found.match),
    limits: descriptor.limits.stream,
    toError: (failure) =>
      createFailureError(maskFailure(failure, secrets), describeRoute(found), descriptor.owner),
    onEnd: (end) => {
      facts.stream_end = end;
      stopWatching();
    },
    onSettled: () => {
      facts.bytes_out = stream.bytes;
      open.close();
    },
  });
  open.end = (reason) => stream.end(reason);
  stopWatching = watchRight(call, () => stream.end('unauthorized'));
  if (request.signal.aborted) stream.close();
  return { status, pieces: [], contentType, contentLength: null, stream, headers: [] };
}

/**
 * Asks at intervals, and when the credential expires, whether the caller may still read.
 * @returns stops it
 */
function watchRight({ found, request }: RouteCall, onLost: () => void): () => void {
  const { module, match } = found;
  const isHeld = async () => {
    const actor = await request.reauthenticate();
    if (actor === null || !isSame(actor, request.actor)) return false;
    return mayCallRoute(actor, module.descriptor.callers, match.value);
  };
  let timer: NodeJS.Timeout;
  const check = () => {
    // Where it cannot be verified now, it is asked again.
    void isHeld()
      .catch(() => true)
      .then((held) => {
        if (held) wait();
        else onLost();
      });
  };
  let isStopped = false;
  const wait = () => {
    if (isStopped) return;
    const { expiresAt = Number.POSITIVE_INFINITY } = request.actor;
    const leftMs = expiresAt - Date.now();
    timer = setTimeout(check, leftMs > 0 ? Math.min(RECHECK_MS, leftMs) : RECHECK_MS);
  };
  wait();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

function isSame(one: Actor, other: Actor): boolean {
  return one.kind === other.kind && one.id === other.id;
}
