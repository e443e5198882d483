import type { ReceivedResponse } from './raw-http.js';
import type { RecordedRequest } from './recording-provider.js';
import type { CraftedRequest } from './request-bytes.js';
import type { Scene } from './scene.js';

/** The classes of attacks, in the order of the report. */
export const ATTACK_CLASSES = {
  path: 'paths that reach another route, module or file',
  mount: 'paths and host names of modules',
  guard: 'unauthorized calls',
  jwt: 'forged or misused signed tokens',
  smuggling: 'request smuggling',
  'hop-by-hop': 'hop-by-hop headers that drop or add others',
  identity: 'headers that claim an identity',
  timing: 'response times that reveal credentials',
  leak: 'information leaks in responses',
  response: 'incomplete and malformed responses of a provider',
  stream: 'hostile streams of events, and clients that keep them open',
  websocket: 'handshakes, frames and credentials of WebSockets',
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
  mcp: 'calls of agents, and approvals of them',
  symlinks: 'plugins with code outside their folder',
  'cross-module': 'grants of one module used on another',
  neighbors: 'callers who affect other callers',
  cache: 'kept responses of other callers and requests',
  release: 'releases that their publisher may not publish',
  candidate: 'copies of calls for a hostile candidate',
  slow: 'slow clients',
} as const;

export type AttackClass = keyof typeof ATTACK_CLASSES;

/** `null` if the host blocked the attack, otherwise the reason of the failure. */
export type Verdict = string | null;

interface AttackHead {
  /** Stable, `<class>-<name>`. */
  readonly id: string;
  readonly title: string;
  /** The advisory of a product that was vulnerable to the attack. */
  readonly evidence?: string;
  /**
   * `own`, the default: needs the modules, tokens or providers of a host that the selftest starts;
   * `token`: needs a valid token; `nothing`: runs against any host.
   */
  readonly needs?: 'own' | 'token' | 'nothing';
  /** Takes seconds, so it runs in parallel with the others. */
  readonly isSlow?: boolean;
}

/** A request, or bytes that are not a request. */
export type Sent = CraftedRequest | Buffer;

/** One request with its expected result. */
interface RequestAttack extends AttackHead {
  readonly send: Sent | ((scene: Scene) => Sent);
}

/** The response must be a Problem with one of the statuses, and no provider may be called. */
interface RejectedAttack extends RequestAttack {
  readonly rejected: number | readonly number[];
  /** The connection must be closed after the response: the following bytes are ambiguous. */
  readonly closes?: boolean;
}

/** The response must be a 200, after one provider call that passes the check. */
interface ForwardedAttack extends RequestAttack {
  readonly forwarded: (
    recorded: RecordedRequest,
    response: ReceivedResponse,
    scene: Scene,
  ) => Verdict;
}

interface ScriptedAttack extends AttackHead {
  attack(scene: Scene): Promise<Verdict>;
}

export type Attack = RejectedAttack | ForwardedAttack | ScriptedAttack;

export interface AttackCase extends ScriptedAttack {
  readonly class: AttackClass;
  readonly needs: 'own' | 'token' | 'nothing';
}
