import { type Actor, SurfaceError } from '../../../core/contract/index.js';

/** Data of the snapshot requires the scopes of the routes with the same data. */
export const MODULES_SCOPE = 'modgate.modules.read';
export const APPROVALS_SCOPE = 'modgate.approvals';
export const CALLS_SCOPE = 'modgate.calls.read';
export const SESSIONS_SCOPE = 'modgate.sessions';

export function hasScope({ kind, scopes }: Actor, scope: string): boolean {
  return kind === 'system' || scopes.has(scope);
}

/** @throws SurfaceError 403. */
export function assertScope(actor: Actor, scope: string): void {
  if (hasScope(actor, scope)) return;
  throw new SurfaceError('forbidden', 'a scope of the host is required', {
    errors: [{ field: 'scope', reason: scope }],
    nextActions: [`ask for the scope ${scope}`],
  });
}

/** @throws SurfaceError 403. */
export function assertUser({ kind }: Actor): void {
  if (kind === 'user') return;
  throw new SurfaceError('forbidden', 'only a user may do this', {
    errors: [{ field: 'caller', reason: 'not a user' }],
    nextActions: ['ask a person to do it'],
  });
}
