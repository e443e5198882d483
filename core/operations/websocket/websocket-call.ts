import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { HostError } from '../../errors.js';
import type { ReservedBits } from '../../lib/websocket/frame-scanner.js';
import {
  acceptKey,
  HANDSHAKE_VERSION,
  parseExtensions,
  parseSubprotocols,
} from '../../lib/websocket/handshake.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { ParseResponse } from '../../provider/provider-call.js';
import { createProtocolFailure } from '../forward/provider-response.js';
import type { CallerRequest } from '../request.js';
import type { Handshake } from './handshake.js';

const KEY_BYTES = 16;
const DEFLATE = 'permessage-deflate';

/** The response for callers when a provider has opened a WebSocket. */
export interface ForwardedWebSocket {
  readonly mode: 'websocket';
  readonly connection: Duplex;
  /** The subprotocol of the provider; `null` for none. */
  readonly protocol: string | null;
  /** The header of the provider; `null` for none. */
  readonly extensions: string | null;
  readonly reservedBits: ReservedBits;
}

/** The handshake of the host with a provider. */
interface WebSocketCall {
  /** The handshake of the caller. */
  readonly handshake: Handshake;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * @throws HostError 426 for a request that is not a handshake, 400 for an invalid list of
 * subprotocols.
 */
export function assertHandshake({
  handshake,
  headers,
}: Pick<CallerRequest, 'handshake' | 'headers'>): void {
  if (handshake === null) {
    const isDropped =
      headers.get('sec-websocket-key') !== undefined && headers.get('upgrade') === undefined;
    throw new HostError('upgrade_required', 'the route is a WebSocket', {
      errors: [{ field: 'upgrade', reason: 'expected the handshake of a WebSocket' }],
      nextActions: [
        isDropped
          ? 'let the proxy in front of the host pass upgrade and connection: only sec-websocket-key has arrived'
          : 'open it with a WebSocket client',
      ],
      headers: {
        upgrade: 'websocket',
        connection: 'upgrade, close',
        'sec-websocket-version': HANDSHAKE_VERSION,
      },
    });
  }
  if (handshake.problem !== null) throw handshake.problem;
}

/**
 * The provider receives a key of the host: with that of the caller, it could respond for the host.
 * @param hopByHop the headers that belong to the caller's connection
 */
export function createWebSocketCall(
  handshake: Handshake,
  hopByHop: ReadonlySet<string>,
): WebSocketCall {
  const key = randomBytes(KEY_BYTES).toString('base64');
  const protocols = handshake.protocols.join(', ');
  const offers = {
    'sec-websocket-protocol': protocols === '' ? undefined : protocols,
    'sec-websocket-extensions': handshake.extensions,
  };
  const headers: Record<string, string> = {
    'sec-websocket-version': HANDSHAKE_VERSION,
    'sec-websocket-key': key,
  };
  for (const [name, value] of Object.entries(offers)) {
    if (value !== undefined && !hopByHop.has(name)) headers[name] = value;
  }
  return { handshake, key, headers };
}

/**
 * Creates a reader of the response to a handshake.
 * @param readOther reads a response other than 101
 */
export function createWebSocketReader<Other>(
  call: WebSocketCall,
  readOther: ParseResponse<Other>,
): ParseResponse<ForwardedWebSocket | Other> {
  return (outcome, endpoint, operation) => {
    const { connection } = outcome;
    if (connection === null) return readOther(outcome, endpoint, operation);
    return { mode: 'websocket', connection, ...readAnswer(outcome, call) };
  };
}

/** @throws ProviderFailure `protocol` for an invalid response to this handshake (RFC 6455, 4.1). */
function readAnswer(outcome: CheckedOutcome, { key, headers: offered }: WebSocketCall) {
  const { headers } = outcome;
  const reject = (name: string) =>
    createProtocolFailure(outcome, 'no answer to the handshake', `${name} ${headers[name]}`);
  if (headers['upgrade']?.toLowerCase() !== 'websocket') throw reject('upgrade');
  if (headers['sec-websocket-accept'] !== acceptKey(key)) throw reject('sec-websocket-accept');
  const protocol = headers['sec-websocket-protocol'] ?? null;
  if (protocol !== null) {
    const offers = parseSubprotocols(offered['sec-websocket-protocol']) ?? [];
    if (!offers.includes(protocol)) throw reject('sec-websocket-protocol');
  }
  const extensions = headers['sec-websocket-extensions'] ?? null;
  const chosen = parseExtensions(extensions ?? undefined);
  const possible = parseExtensions(offered['sec-websocket-extensions']) ?? [];
  if (chosen === null || chosen.some((name) => !possible.includes(name))) {
    throw reject('sec-websocket-extensions');
  }
  return { protocol, extensions, reservedBits: bitsOf(chosen) };
}

/** An unknown extension may use any bits. */
function bitsOf(extensions: readonly string[]): ReservedBits {
  if (extensions.length === 0) return 'none';
  return extensions.every((name) => name === DEFLATE) ? 'deflate' : 'any';
}
