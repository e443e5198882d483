import type { Actor, ActorKind } from '../contract/index.js';
import { DESCRIPTOR_DEFAULTS } from '../descriptor/defaults.js';
import { BUILTIN_UI } from '../descriptor/identifiers.js';
import { HostError } from '../errors.js';
import type { LiveModule } from '../modules/live-module.js';
import type { BridgeRequest } from './console/bridge-request.js';

const CONSOLE_ADMIN = 'console.admin';

/** Also for a module that is not there, so that a caller does not learn which modules exist. */
export const DEFAULT_CALLERS: readonly ActorKind[] = DESCRIPTOR_DEFAULTS.callers;

function isModuleCaller(actor: Actor, callers: readonly ActorKind[]): boolean {
  return callers.includes(actor.kind) || isConsoleAdmin(actor);
}

function isConsoleAdmin({ kind, scopes }: Actor): boolean {
  return kind === 'user' && scopes.has(CONSOLE_ADMIN);
}

/** `system` holds every scope. */
function holdsScope({ kind, scopes }: Actor, scope: string): boolean {
  return kind === 'system' || scopes.has(scope);
}

/** Whether an actor may call a route; `null` is the capability of a route that declares none. */
export function mayCallRoute(
  actor: Actor,
  callers: readonly ActorKind[],
  capability: string | null,
): boolean {
  return capability !== null && isModuleCaller(actor, callers) && holdsScope(actor, capability);
}

/**
 * Requires a kind of actor that the module is open to. A user with `console.admin` may call every module.
 * @throws HostError 403.
 */
export function authorizeModuleCaller(actor: Actor, callers: readonly ActorKind[]): void {
  if (isModuleCaller(actor, callers)) return;
  throw new HostError('forbidden', 'the module is not open to this kind of caller', {
    errors: [{ field: 'caller', reason: actor.kind }],
    nextActions: ['call it as another kind of caller, or ask the operators of the host'],
    reason: 'callers',
  });
}

/**
 * Requires the exact scope, except for `system`. A route without a capability is closed to every caller.
 * @throws HostError 403.
 */
export function authorizeCapability(actor: Actor, capability: string | null): void {
  if (capability === null) {
    throw new HostError('forbidden', 'the route declares no capability, so no caller may call it', {
      nextActions: ['ask the owners of the module to declare a capability for the route'],
    });
  }
  if (holdsScope(actor, capability)) return;
  throw forbidden('a declared capability is required', capability);
}

/**
 * For the host's own routes: requires the exact scope, except for `system`.
 * @throws HostError 403.
 */
function authorizeScope(actor: Actor, scope: string): void {
  if (holdsScope(actor, scope)) return;
  throw forbidden('a scope of the host is required', scope);
}

function forbidden(detail: string, scope: string): HostError {
  return new HostError('forbidden', detail, {
    errors: [{ field: 'scope', reason: scope }],
    nextActions: [`ask for the scope ${scope}`],
  });
}

/** What a caller must be allowed to do. */
type Requirement =
  /** Call a route of a module; `null` is the capability of a route that declares none. */
  | {
      readonly kind: 'capability';
      readonly capability: string | null;
      /** The kinds of actors that the module is open to. */
      readonly callers: readonly ActorKind[];
    }
  /** Use a permission of a module over the console bridge. */
  | {
      readonly kind: 'grant';
      readonly module: LiveModule;
      readonly request: BridgeRequest;
      /** What `builtin` stands for. */
      readonly shippedUi: ReadonlySet<string>;
    }
  /** Use a route of the host. */
  | { readonly kind: 'scope'; readonly scope: string }
  /** Read what every authenticated caller may read. */
  | { readonly kind: 'authenticated' }
  /** Read public data. */
  | { readonly kind: 'public' };

/**
 * Proof that a caller may do something. No provider is called and no data leaves without one. Only `authorize`
 * creates them: the private member makes forged objects detectable.
 */
export class Authorization {
  readonly #isGenuine = true;

  private constructor() {}

  /**
   * Denies everything that the requirement does not allow.
   * @param actor `null` for a request without authentication, which may only read public data
   * @throws HostError 403.
   */
  static authorize(actor: Actor | null, requirement: Requirement): Authorization {
    if (requirement.kind === 'public') return new Authorization();
    if (actor === null) throw new Error('without an actor only public requirements are allowed');
    if (requirement.kind === 'capability') {
      authorizeModuleCaller(actor, requirement.callers);
      authorizeCapability(actor, requirement.capability);
    } else if (requirement.kind === 'grant') {
      authorizePermission(actor, requirement.request.permission);
      authorizeGrant(requirement.module, requirement.request, requirement.shippedUi);
    } else if (requirement.kind === 'scope') {
      authorizeScope(actor, requirement.scope);
    }
    return new Authorization();
  }

  /** @throws Error for an object that `authorize` did not create, such as one that was cast. */
  static assert(authorization: Authorization): void {
    if (!(#isGenuine in authorization))
      throw new Error('the authorization was not made by authorize()');
  }
}

export const { authorize } = Authorization;

/** `system` and users with `console.admin` hold every permission, all others only the exact scope. */
export function holdsPermission(actor: Actor, permission: string): boolean {
  return holdsScope(actor, permission) || isConsoleAdmin(actor);
}

/** @throws HostError 403. */
export function authorizePermission(actor: Actor, permission: string): void {
  if (holdsPermission(actor, permission)) return;
  throw new HostError('forbidden', 'the caller does not hold the permission', {
    errors: [{ field: 'permission', reason: 'not among the scopes of the caller' }],
    nextActions: [`ask for the scope ${permission}`],
  });
}

/** The release digest that a console must send for this module. */
export function releaseOf({
  descriptor,
  manifestDigest,
}: Pick<LiveModule, 'descriptor' | 'manifestDigest'>): string {
  return descriptor.console.release ?? manifestDigest;
}

/**
 * The grant must be for exactly this module, release, UI artifact and permission. The error does not say which of
 * them differs: operators compare the digests.
 * @param shippedUi the digests that `builtin` stands for
 * @throws HostError 403.
 */
function authorizeGrant(
  module: LiveModule,
  request: BridgeRequest,
  shippedUi: ReadonlySet<string>,
): void {
  const { ui, grants } = module.descriptor.console;
  const isGranted =
    releaseOf(module) === request.moduleReleaseDigest &&
    (ui.includes(request.uiArtifactDigest) ||
      (ui.includes(BUILTIN_UI) && shippedUi.has(request.uiArtifactDigest))) &&
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
