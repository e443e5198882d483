import type { Actor } from '../../contract/index.js';
import { mayCallRoute } from '../authorization.js';
import type { RouteCall } from './route-call.js';

/** The longest time between two checks of the caller's right. Milliseconds. */
const RECHECK_MS = 30_000;

/**
 * Checks at intervals, and when the credential expires, whether the caller may still read.
 * @returns a function that stops the checks
 */
export function watchAuthorization(
  { matched, request }: RouteCall,
  onLost: () => void,
): () => void {
  const { module, match } = matched;
  const isHeld = async () => {
    const actor = await request.reauthenticate();
    if (actor === null || !isSame(actor, request.actor)) return false;
    return mayCallRoute(actor, module.descriptor.callers, match.value);
  };
  let timer: NodeJS.Timeout;
  const check = () => {
    // If it cannot be verified now, the check is repeated.
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

function isSame(actor: Actor, other: Actor): boolean {
  return actor.kind === other.kind && actor.id === other.id;
}
