import type { Actor, ActorKind } from '../contract/index.js';
import { BUILTIN_UI } from '../descriptor/identifiers.js';
import { type ErrorDetail, HostError } from '../errors.js';
import type { LiveModule, LiveRoute } from '../modules/live-module.js';

/** The detail and actions of a 401. */
export const UNAUTHENTICATED = {
  missing: 'authentication is required',
  invalid: 'the credentials are not valid',
} as const;

const CONSOLE_ADMIN = 'console.admin';

function isModuleCaller(actor: Actor, callers: readonly ActorKind[]): boolean {
  return callers.some((kind) => kind === actor.kind) || isConsoleAdmin(actor);
}

function isConsoleAdmin({ kind, scopes }: Actor): boolean {
  return kind === 'user' && scopes.has(CONSOLE_ADMIN);
}

/** `system` holds every scope. */
function holdsScope({ kind, scopes }: Actor, scope: string): boolean {
  return kind === 'system' || scopes.has(scope);
}

type Named = Pick<Actor, 'kind' | 'id'>;

export function isSameActor(actor: Named, other: Named): boolean {
  return actor.kind === other.kind && actor.id === other.id;
}

export function hasLostScope(actor: Actor, earlier: Actor): boolean {
  return [...earlier.scopes].some((scope) => !holdsScope(actor, scope));
}

export function mayCallRoute(
  actor: Actor,
  callers: readonly ActorKind[],
  { capability, isPublic }: Pick<LiveRoute, 'capability' | 'isPublic'>,
): boolean {
  if (isPublic) return true;
  return capability !== null && isModuleCaller(actor, callers) && holdsScope(actor, capability);
}

function forbidScope(
  detail: string,
  scope: string,
  causes: readonly ErrorDetail[] = [],
): HostError {
  return new HostError('forbidden', detail, {
    step: 'capability',
    missingScope: scope,
    errors: [{ field: 'scope', reason: scope }, ...causes],
    nextActions: [`ask for the scope ${scope}`],
  });
}

/** The required right of a caller of the host's own routes. */
export type Requirement =
  /** Requires the exact scope of a route of the host, except for `system`. */
  | {
      readonly kind: 'scope';
      readonly scope: string;
      /** What of the request requires it. Default: the route itself. */
      readonly causes?: readonly ErrorDetail[];
      /** Whether services and `system` are denied, with the scope as well. */
      readonly isForUsers?: true;
    }
  /** Allows every authenticated caller, through a surface of the host only. */
  | { readonly kind: 'surface' }
  /** Allows every authenticated caller. */
  | { readonly kind: 'authenticated' }
  /** Allows every caller to read public data. */
  | { readonly kind: 'public' };

/** The required checks of an authorization, as bits. */
const NOTHING = 0;
const CALLER = 1;
const CAPABILITY = 2;
const PERMISSION = 4;
const GRANT = 8;
const RELEASE = 16;
const UI = 32;

/**
 * Proof that a caller is authorized. No provider is called and no data is returned without a
 * complete one. Each check of a module is made once, in a separate step; the private member makes
 * forged objects detectable.
 */
export class Authorization {
  /** The checks that have not passed. */
  #missing: number;

  private constructor(missing: number) {
    this.#missing = missing;
  }

  /**
   * Authorizes a request to the host's own routes: denies everything that the requirement does not
   * allow.
   * @param actor `null` for an unauthenticated request, which may only read public data
   * @param surface the surface that calls for the actor; `null` for a request over the network
   * @throws HostError 403.
   */
  static authorize(
    actor: Actor | null,
    requirement: Requirement,
    surface: string | null = null,
  ): Authorization {
    if (requirement.kind === 'public') return new Authorization(NOTHING);
    if (actor === null) throw new Error('without an actor only public requirements are allowed');
    if (requirement.kind === 'scope' && !holdsScope(actor, requirement.scope)) {
      const { scope, causes } = requirement;
      throw forbidScope('a scope of the host is required', scope, causes);
    }
    if (requirement.kind === 'scope' && requirement.isForUsers && actor.kind !== 'user') {
      throw new HostError('forbidden', 'only a user may do this', {
        errors: [{ field: 'caller', reason: 'not a user' }],
        nextActions: [`ask a person with the scope ${requirement.scope}`],
      });
    }
    if (requirement.kind === 'surface' && surface === null) {
      throw new HostError('forbidden', 'only surfaces of the host call operations', {
        nextActions: ['call the tool of a surface such as mcp'],
      });
    }
    return new Authorization(NOTHING);
  }

  /**
   * Creates an authorization for a route of a module: complete when the kind of the caller and the
   * capability are admitted.
   */
  static forRoute(): Authorization {
    return new Authorization(CALLER | CAPABILITY);
  }

  /**
   * Creates an authorization for the console bridge: complete when permission, grant, release and
   * UI artifact are admitted.
   */
  static forBridge(): Authorization {
    return new Authorization(PERMISSION | GRANT | RELEASE | UI);
  }

  /**
   * Creates an authorization for an entity or an action that agents call: complete when permission
   * and exposure are admitted.
   */
  static forOperation(): Authorization {
    return new Authorization(PERMISSION | GRANT);
  }

  /**
   * @throws Error for an incomplete authorization, and for an object that was not created here,
   * such as by a cast.
   */
  static assert(authorization: Authorization): void {
    if (!(#missing in authorization) || authorization.#missing !== NOTHING) {
      throw new Error('the authorization was not made by its checks');
    }
  }

  /**
   * Requires a kind of actor that the module admits. A user with `console.admin` may call every
   * module.
   * @throws HostError 403.
   */
  admitCaller(actor: Actor, callers: readonly ActorKind[]): void {
    if (!isModuleCaller(actor, callers)) {
      throw new HostError('forbidden', 'the module is not open to this kind of caller', {
        errors: [{ field: 'caller', reason: actor.kind }],
        nextActions: ['call it as another kind of caller, or ask the operators of the host'],
        reason: 'callers',
      });
    }
    this.#missing &= ~CALLER;
  }

  /**
   * Completes the checks of a route without credentials, which every caller may use.
   * @throws HostError 401 for a route that is not public.
   */
  admitPublic({ isPublic }: Pick<LiveRoute, 'isPublic'>): void {
    if (!isPublic) throw new HostError('unauthorized', UNAUTHENTICATED.missing);
    this.#missing &= ~(CALLER | CAPABILITY);
  }

  /**
   * Requires the exact scope, except for `system`. A route without a capability is closed to every caller.
   * @throws HostError 403.
   */
  admitCapability(actor: Actor, capability: string | null): void {
    if (capability === null) {
      throw new HostError(
        'forbidden',
        'the route declares no capability, so no caller may call it',
        {
          nextActions: ['ask the owners of the module to declare a capability for the route'],
        },
      );
    }
    if (!holdsScope(actor, capability)) {
      throw forbidScope('a declared capability is required', capability);
    }
    this.#missing &= ~CAPABILITY;
  }

  /** @throws HostError 403. */
  admitPermission(actor: Actor, permission: string): void {
    if (!holdsPermission(actor, permission)) {
      throw new HostError('forbidden', 'the caller does not hold the permission', {
        missingScope: permission,
        errors: [{ field: 'permission', reason: 'not among the scopes of the caller' }],
        nextActions: [`ask for the scope ${permission}`],
      });
    }
    this.#missing &= ~PERMISSION;
  }

  /** @throws HostError 403. */
  admitGrant({ descriptor }: GrantingModule, permission: string): void {
    if (!descriptor.console.grants.includes(permission)) throw createGrantError();
    this.#missing &= ~GRANT;
  }

  /**
   * Exposed operations need no separate grant.
   * @param exposed the ids of the exposed operations
   * @throws HostError 403.
   */
  admitExposure(exposed: { has(id: string): boolean }, id: string): void {
    if (!exposed.has(id)) {
      throw new HostError('forbidden', 'the operation is not exposed to agents', {
        errors: [{ field: 'operation', reason: 'not exposed' }],
      });
    }
    this.#missing &= ~GRANT;
  }

  /** @throws HostError 403. */
  admitRelease(module: GrantingModule, digest: string): void {
    if (releaseDigestOf(module) !== digest) throw createGrantError();
    this.#missing &= ~RELEASE;
  }

  /**
   * @param shippedUi the digests of `builtin`
   * @throws HostError 403.
   */
  admitUi({ descriptor }: GrantingModule, digest: string, shippedUi: ReadonlySet<string>): void {
    const { ui } = descriptor.console;
    const isBuiltin = ui.includes(BUILTIN_UI) && shippedUi.has(digest);
    if (!isBuiltin && !ui.includes(digest)) throw createGrantError();
    this.#missing &= ~UI;
  }
}

export const { authorize } = Authorization;

/** `system` and users with `console.admin` hold every permission, all others only the exact scope. */
export function holdsPermission(actor: Actor, permission: string): boolean {
  return holdsScope(actor, permission) || isConsoleAdmin(actor);
}

type GrantingModule = Pick<LiveModule, 'descriptor' | 'manifestDigest'>;

/** The release digest that a console must send for this module. */
export function releaseDigestOf({ descriptor, manifestDigest }: GrantingModule): string {
  return descriptor.console.release ?? manifestDigest;
}

/**
 * Creates an error that hides which of permission, release and UI artifact differs: operators see
 * the step.
 */
function createGrantError(): HostError {
  return new HostError('forbidden', 'no grant for this release, UI artifact and permission', {
    errors: [{ field: 'permission', reason: 'not granted' }],
    nextActions: [
      'compare the digests with those of GET /modules',
      'ask the operators for a grant in the console section of the descriptor',
    ],
  });
}
