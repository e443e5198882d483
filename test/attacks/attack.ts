import {
  ATTACK_CLASSES as HOST_CLASSES,
  type RejectedAttack,
  type ScriptedAttack,
  type Verdict,
} from '../../core/selftest/attack-case.js';
import type { ReceivedResponse } from '../../core/selftest/raw-http.js';
import type { CraftedRequest as HostRequest } from '../../core/selftest/request-bytes.js';
import type { ReceivedRequest } from '../support/provider.js';
import type { OwnToken, Scene } from './scene.js';

export type { Verdict } from '../../core/selftest/attack-case.js';

/** The classes of all attacks, in the order of the README: first those of `modgate selftest`. */
export const ATTACK_CLASSES = {
  ...HOST_CLASSES,
  mount: 'paths and host names of modules',
  jwt: 'forged or misused signed tokens',
  identity: 'headers that claim an identity',
  leak: 'information leaks in responses',
  response: 'incomplete and malformed responses of a provider',
  stream: 'hostile streams of events, and clients that keep them open',
  websocket: 'handshakes, frames and credentials of WebSockets',
  raw: 'hostile responses of a provider in raw mode',
  ssrf: 'addresses chosen by a client or provider',
  tls: 'providers with invalid certificates',
  decompression: 'encoded bodies',
  json: 'bodies that parsers interpret differently',
  crlf: 'line breaks in derived headers',
  trace: 'invalid trace context',
  web: 'web pages of other origins, forged requests, API keys and kinds of callers',
  console: 'sessions of the console',
  mcp: 'calls of agents, and approvals of them',
  tools: 'MCP servers that change, flood or lie, and messages in arguments',
  broker: 'AMQP brokers and providers that spoof, flood or lie',
  symlinks: 'plugins with code outside their folder',
  'cross-module': 'grants of one module used on another',
  neighbors: 'callers who affect other callers',
  cache: 'kept responses of other callers and requests',
  release: 'releases that their publisher may not publish',
  candidate: 'copies of calls for a hostile candidate',
} as const;

export type AttackClass = keyof typeof ATTACK_CLASSES;

export interface CraftedRequest extends HostRequest {
  /** Uses the token of this actor. */
  readonly as?: OwnToken;
}

/** A request, or bytes that are not a request. */
export type Sent = CraftedRequest | Buffer;

interface Sending {
  readonly send: Sent | ((scene: Scene) => Sent);
}

/** The response must be a 200, after one provider call that passes the check. */
export interface ForwardedAttack extends Omit<ScriptedAttack, 'attack'>, Sending {
  readonly forwarded: (
    recorded: ReceivedRequest,
    response: ReceivedResponse,
    scene: Scene,
  ) => Verdict;
}

/** An attack that needs modules, tokens or providers of its own; of a rejected one, no provider may be called. */
export type Attack =
  | ForwardedAttack
  | (Omit<RejectedAttack<Scene>, 'send'> & Sending)
  | ScriptedAttack<Scene>;

/** An attack of one request, whose response must be a Problem with one of the statuses. */
export function reject(
  id: string,
  title: string,
  send: Sending['send'],
  rejected: number | readonly number[],
): Attack {
  return { id, title, send, rejected };
}
