import { HostError } from '../../errors.js';
import type { ResponseStream } from '../../provider/response-stream.js';
import { isSameActor, mayCallRoute } from '../authorization.js';
import { rights, type Standing } from '../right-watch.js';
import { createCallFailure } from './provider-error.js';
import type { RouteCall } from './route-call.js';

const NOTHING = () => {};

interface WatchOptions {
  /** Whether the end of the credential also ends it; otherwise only a withdrawn right does. */
  readonly endsWithCredential: boolean;
  readonly onLost: () => void;
}

/**
 * Checks at intervals whether the caller still has the right to call the route.
 * @returns a function that ends the checks
 */
export function watchRight({ matched, request }: RouteCall, options: WatchOptions): () => void {
  const { module, match } = matched;
  const verify = async (): Promise<Standing> => {
    const actor = await request.reauthenticate();
    if (actor === 'expired') return 'expired';
    if (actor === null || !isSameActor(actor, request.actor)) return 'withdrawn';
    return mayCallRoute(actor, module.descriptor.callers, match.value) ? 'held' : 'withdrawn';
  };
  return rights.add({ verify, expiresAt: request.actor.expiresAt, ...options });
}

/** Describes its failures to the caller, and cuts it when the right of the caller is withdrawn. */
export function followBody(call: RouteCall, body: ResponseStream): void {
  body.toError = (failure) => createCallFailure(call, failure);
  const stop = watchRight(call, {
    endsWithCredential: false,
    onLost: () => {
      call.facts.stream_end = 'unauthorized';
      body.toError = createWithdrawnError;
      body.close();
    },
  });
  if (body.isOpen) body.onEnd(stop);
  else stop();
}

/**
 * Ends an upload, and its call, when the right of its caller is withdrawn.
 * @returns a function that ends the checks, once there is a response
 */
export function endUploadWithRight(call: RouteCall): () => void {
  const { upload } = call;
  if (upload === null) return NOTHING;
  return watchRight(call, {
    endsWithCredential: false,
    onLost: () => {
      call.facts.stream_end = 'unauthorized';
      upload.fail(createWithdrawnError());
    },
  });
}

function createWithdrawnError(): HostError {
  return new HostError('unauthorized', 'the right of the caller was withdrawn', {
    step: 'actor',
    reason: 'revoked',
    nextActions: ['send the request again with valid credentials'],
    headers: { connection: 'close' },
  });
}
