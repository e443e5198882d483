import type { Actor } from '../../contract/index.js';
import { isInRanges } from '../../lib/address-list.js';
import type { RoutedModule } from '../../modules/live-module.js';
import { Authorization, holdsPermission, mayCallRoute } from '../authorization.js';
import type { CallerRequest } from '../request.js';
import type { Declared } from './exposed-operations.js';

type AddressedModule = Pick<RoutedModule, 'descriptor'>;

export function admitsAddress(
  { descriptor: { allow } }: AddressedModule,
  client: CallerRequest['client'],
): boolean {
  return allow === undefined || (client !== null && isInRanges(client.address, allow.addresses));
}

/** Whether the actor has the rights that the steps of a call require. */
export function mayCall(actor: Actor, { descriptor }: AddressedModule, declared: Declared) {
  if (declared.kind === 'route') return mayCallRoute(actor, descriptor.callers, declared.route);
  return holdsPermission(actor, permissionOf(declared));
}

/** @throws HostError 403 if `mayCall` is false, like the steps of a call. */
export function admitCaller(actor: Actor, { descriptor }: AddressedModule, declared: Declared) {
  if (declared.kind !== 'route') {
    Authorization.forOperation().admitPermission(actor, permissionOf(declared));
  } else if (!declared.route.isPublic) {
    const authorization = Authorization.forRoute();
    authorization.admitCaller(actor, descriptor.callers);
    authorization.admitCapability(actor, declared.route.capability);
  }
}

/** The required permission of a caller of an entity or an action. */
export function permissionOf(declared: Exclude<Declared, { kind: 'route' }>): string {
  return declared.kind === 'entity' ? declared.entity.read_capability : declared.action.capability;
}
