import type { Actor } from '../contract/index.js';
import type { LiveModule } from '../modules/live-module.js';
import { authoriseCapability, authoriseModuleCaller, authoriseScope } from './authorise.js';
import { authoriseGrant, authorisePermission } from './console/authorise-bridge.js';
import type { BridgeRequest } from './console/bridge-request.js';

/** What a caller must be allowed to do, of each kind that there is. */
export type Requirement =
  /** Call a route of a module; `null` is the capability of a route that declares none. */
  | { readonly kind: 'capability'; readonly capability: string | null }
  /** Use a permission of a module over the console bridge. */
  | { readonly kind: 'grant'; readonly module: LiveModule; readonly asked: BridgeRequest }
  /** Use a route of the host. */
  | { readonly kind: 'scope'; readonly scope: string }
  /** What everybody may: see `PUBLIC` of the host's routes. */
  | { readonly kind: 'public' };

/**
 * That somebody may do what is done. No provider is asked and no answer leaves without one, and only
 * `decide` makes them: its private member lets no other object pass for one.
 */
export class Decision {
  readonly #isMade = true;

  private constructor() {}

  /**
   * Deny unless a requirement says yes.
   * @param actor `null` for a caller that nobody asked for: only what is public is allowed then
   * @throws HostError 403.
   */
  static decide(actor: Actor | null, requirement: Requirement): Decision {
    if (requirement.kind === 'public') return new Decision();
    if (actor === null) throw new Error('a caller without an actor may do what is public alone');
    if (requirement.kind === 'capability') {
      authoriseModuleCaller(actor);
      authoriseCapability(actor, requirement.capability);
    } else if (requirement.kind === 'grant') {
      authorisePermission(actor, requirement.asked.permission);
      authoriseGrant(requirement.module, requirement.asked);
    } else {
      authoriseScope(actor, requirement.scope);
    }
    return new Decision();
  }

  /** Refuses what only looks like one, such as an object cast to it. */
  static require(decision: Decision): void {
    if (!(#isMade in decision)) throw new Error('the decision was not made by decide()');
  }
}

export const { decide } = Decision;
