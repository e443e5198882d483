import type { Actor } from '../contract/index.js';
import { HostError } from '../errors.js';

const CONSOLE_ADMIN = 'console.admin';

/**
 * Contract 1.1: services and systems may call modules; a user needs `console.admin`.
 * @throws HostError 403.
 */
export function authoriseModuleCaller(actor: Actor): void {
  if (actor.kind !== 'user' || actor.scopes.has(CONSOLE_ADMIN)) return;
  throw forbidden('modules are called by services and systems', CONSOLE_ADMIN);
}

/**
 * Contract 1.4: the exact scope, except for `system`; a route without a capability is closed to everybody.
 * @throws HostError 403.
 */
export function authoriseCapability(actor: Actor, capability: string | null): void {
  if (capability === null) {
    throw new HostError('forbidden', 'the route declares no capability, so nobody may call it', {
      nextActions: ['ask the owners of the module to declare a capability for the route'],
    });
  }
  if (actor.kind === 'system' || actor.scopes.has(capability)) return;
  throw forbidden('a declared capability is required', capability);
}

/**
 * For the host's own routes: the exact scope, except for `system`.
 * @throws HostError 403.
 */
export function authoriseScope(actor: Actor, scope: string): void {
  if (actor.kind === 'system' || actor.scopes.has(scope)) return;
  throw forbidden('a scope of the host is required', scope);
}

function forbidden(detail: string, scope: string): HostError {
  return new HostError('forbidden', detail, {
    errors: [{ field: 'scope', reason: scope }],
    nextActions: [`ask for the scope ${scope}`],
  });
}
