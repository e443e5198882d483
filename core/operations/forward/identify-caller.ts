import type { Actor } from '../../contract/index.js';
import { listLearnedScopes } from '../../descriptor/sections/identity.js';
import { HostError } from '../../errors.js';
import {
  type IdentifiedCaller,
  MAX_IDENTITY_BYTES,
  measureIdentity,
} from '../../identity/identity-claims.js';
import { nameActor } from '../../lib/actor-name.js';
import type { RoutedModule } from '../../modules/live-module.js';

/**
 * Describes the caller for `modgate-identity`, if the module has it. It includes only scopes that
 * are capabilities of the module, within the bounds of the descriptor: its provider must not learn
 * the others, and an actor may have thousands.
 * @throws HostError 403 if the token would be too long.
 */
export function identifyCaller(
  { descriptor, manifest, name }: RoutedModule,
  actor: Actor,
  requestId: string,
): IdentifiedCaller {
  const learned = listLearnedScopes(descriptor.identity, manifest.capabilities);
  const scopes = learned.filter((capability) => actor.scopes.has(capability));
  const caller = { module: name, actor: nameActor(actor), scope: scopes.join(' '), requestId };
  if (measureIdentity(caller) <= MAX_IDENTITY_BYTES) return caller;
  const scope = { field: 'scope', reason: `${scopes.length} capabilities of the module` };
  throw new HostError('forbidden', 'the scopes of the caller do not fit into modgate-identity', {
    step: 'capability',
    reason: 'identity',
    errors: [scope],
    nextActions: ['ask for fewer scopes of the module'],
  });
}
