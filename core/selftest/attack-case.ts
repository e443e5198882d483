import type { Scene } from './scene.js';

/** The classes of attacks, in the order of the report. */
export const ATTACK_CLASSES = {
  path: 'paths that reach another route, module or file',
  guard: 'unauthorized calls',
  jwt: 'forged or misused signed tokens',
  smuggling: 'request smuggling',
  'hop-by-hop': 'hop-by-hop headers that drop or add others',
  identity: 'headers that claim an identity',
  timing: 'response times that reveal credentials',
  leak: 'information leaks in responses',
  response: 'incomplete and malformed responses of a provider',
  raw: 'hostile responses of a provider in raw mode',
  ssrf: 'addresses chosen by a client or provider',
  tls: 'providers with invalid certificates',
  decompression: 'encoded bodies',
  oversize: 'oversized requests and responses',
  json: 'bodies that parsers interpret differently',
  redos: 'text that makes regular expressions slow',
  host: 'the authority of a request',
  crlf: 'line breaks in derived headers',
  trace: 'invalid trace context',
  admin: 'host routes called from a browser or with a wrong method',
  web: 'web pages of other origins, forged requests, API keys and kinds of callers',
  console: 'sessions of the console',
  symlinks: 'plugins with code outside their folder',
  'cross-module': 'grants of one module used on another',
  neighbors: 'callers who affect other callers',
  slow: 'slow clients',
} as const;

export type AttackClass = keyof typeof ATTACK_CLASSES;

/** `null` when the host withstood the attack, otherwise the reason of the failure. */
export type Verdict = string | null;

export interface AttackCase {
  /** Stable, `<class>-<name>`. */
  readonly id: string;
  readonly class: AttackClass;
  readonly title: string;
  /** The advisory of a product in which the attack succeeded. */
  readonly evidence?: string;
  /**
   * `own`: needs the modules, tokens or providers of a host that the selftest starts;
   * `token`: needs a valid token; `nothing`: runs against any host.
   */
  readonly needs: 'own' | 'token' | 'nothing';
  /** Takes seconds, so it runs in parallel with the others. */
  readonly isSlow?: boolean;
  attack(scene: Scene): Promise<Verdict>;
}
