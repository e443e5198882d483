import type { Scene } from './scene.js';

/** What is attacked, in the order of the report. */
export const ATTACK_CLASSES = {
  path: 'paths that name another route, module or file',
  guard: 'calls without the right to make them',
  jwt: 'signed tokens that no issuer meant',
  smuggling: 'two requests in what one side reads as one',
  'hop-by-hop': 'headers that make the host drop or add others',
  identity: 'headers that claim to be somebody',
  timing: 'what the time of an answer tells of a credential',
  leak: 'what an answer may tell',
  ssrf: 'addresses that the caller or the provider chooses',
  tls: 'providers that cannot prove who they are',
  decompression: 'encoded bodies',
  oversize: 'more than anybody needs',
  json: 'bodies that parsers disagree on',
  redos: 'text that makes patterns slow',
  host: 'the authority of a request',
  crlf: 'line ends in derived headers',
  admin: 'the routes of ops, from a browser or by a wrong method',
  symlinks: 'plugins that lead out of their folder',
  'cross-module': 'the right of one module, used on another',
  slow: 'callers that take their time',
} as const;

export type AttackClass = keyof typeof ATTACK_CLASSES;

/** `null` when the host held, else what it did wrong, in a line. */
export type Verdict = string | null;

export interface AttackCase {
  /** Stable, `<class>-<name>`. */
  readonly id: string;
  readonly class: AttackClass;
  readonly title: string;
  /** The advisories, or the paragraph, that tell of the attack where it worked. */
  readonly evidence?: string;
  /**
   * `own`: judged with the modules, tokens or providers of a host that the selftest starts itself;
   * `token`: needs a credential that the host knows; `nothing`: any host will do.
   */
  readonly needs: 'own' | 'token' | 'nothing';
  /** Seconds rather than milliseconds: run beside all others. */
  readonly isSlow?: boolean;
  attack(scene: Scene): Promise<Verdict>;
}
