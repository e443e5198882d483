import type { Actor } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { BridgeRequest } from './bridge-request.js';

/** Contract 4: `system` and a user with `console.admin` hold every permission; anybody else the exact one. */
export function holdsPermission(actor: Actor, permission: string): boolean {
  if (actor.kind === 'system' || actor.scopes.has(permission)) return true;
  return actor.kind === 'user' && actor.scopes.has('console.admin');
}

/** @throws HostError 403. */
export function authorisePermission(actor: Actor, permission: string): void {
  if (holdsPermission(actor, permission)) return;
  throw new HostError('forbidden', 'the caller does not hold the permission', {
    errors: [{ field: 'permission', reason: 'not among the scopes of the caller' }],
    nextActions: [`ask for the scope ${permission}`],
  });
}

/** What a console must present of this module. */
export function releaseOf({ descriptor, manifestDigest }: LiveModule): string {
  return descriptor.console.release ?? manifestDigest;
}

/**
 * The grant must be for exactly this module, release, UI artifact and permission. Which of them does not
 * fit is not told: the digests in question are ops' to compare.
 * @throws HostError 403.
 */
export function authoriseGrant(module: LiveModule, request: BridgeRequest): void {
  const { ui, grants } = module.descriptor.console;
  const isGranted =
    releaseOf(module) === request.moduleReleaseDigest &&
    ui.includes(request.uiArtifactDigest) &&
    grants.includes(request.permission);
  if (isGranted) return;
  throw new HostError('forbidden', 'no grant for this release, UI artifact and permission', {
    errors: [{ field: 'permission', reason: 'not granted' }],
    nextActions: [
      'compare the digests with those of GET /modules',
      'ask the operators for a grant in the console section of the descriptor',
    ],
  });
}
