import type { CraftedRequest } from './request-bytes.js';
import type { Scene } from './scene.js';

/** The classes of attacks that any running host can be tested with, in the order of the report. */
export const ATTACK_CLASSES = {
  path: 'paths that reach another route, module or file',
  guard: 'unauthorized calls',
  smuggling: 'request smuggling',
  'hop-by-hop': 'hop-by-hop headers that drop or add others',
  timing: 'response times that reveal credentials',
  oversize: 'oversized requests and responses',
  redos: 'text that makes regular expressions slow',
  host: 'the authority of a request',
  admin: 'host routes called from a browser or with a wrong method',
  slow: 'slow clients',
} as const;

/** `null` if the host blocked the attack, otherwise the reason of the failure. */
export type Verdict = string | null;

interface AttackHead {
  /** Stable, `<class>-<name>`. */
  readonly id: string;
  readonly title: string;
  /** The advisory of a product that was vulnerable to the attack. */
  readonly evidence?: string;
  /** Needs no token. */
  readonly isAnonymous?: boolean;
  /** Takes seconds, so it runs in parallel with the others. */
  readonly isSlow?: boolean;
}

/** A request, or bytes that are not a request. */
export type Sent = CraftedRequest | Buffer;

/** The response must be a Problem with one of the statuses. */
export interface RejectedAttack<Target extends Scene = Scene> extends AttackHead {
  readonly send: Sent | ((scene: Target) => Sent);
  readonly rejected: number | readonly number[];
  /** The connection must be closed after the response: the following bytes are ambiguous. */
  readonly closes?: boolean;
  /** The number of requests, each on its own connection. Default 1. */
  readonly times?: number;
  /** The deadline of all responses together. Milliseconds; default: only that of each response. */
  readonly withinMs?: number;
}

export interface ScriptedAttack<Target extends Scene = Scene> extends AttackHead {
  attack(scene: Target): Promise<Verdict>;
}

export type Attack<Target extends Scene = Scene> = RejectedAttack<Target> | ScriptedAttack<Target>;

export interface AttackCase<Target extends Scene = Scene> extends ScriptedAttack<Target> {
  readonly class: string;
}
